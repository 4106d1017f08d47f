package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.StepRow;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.WorstCase;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** A node's own executions. Stopped ones report nothing; those of a node that crashed are gone with it. */
final class Executor {
    private final Node node;
    private final Map<UUID, Held> running = new HashMap<>();
    /** Leases that have asked for a hold and have no reply. */
    private final Set<Held> waiting = new HashSet<>();

    Executor(Node node) {
        this.node = node;
    }

    int size() {
        return running.size();
    }

    List<Lane> lanes() {
        return running.values().stream().map(Held::lane).toList();
    }

    void stop(UUID step) {
        Held stopped = running.remove(step);
        if (stopped != null && stopped.epoch() % 2 == 1) {
            node.own(new Command.Release(stopped.runId(), step, stopped.epoch(), null,
                    node.sim.store.provider.kept(step, stopped.epoch()), Actor.agent(node.name())));
        }
    }

    void start(UUID run, StepRow step) {
        Held lease = new Held(run, step.id(), new Lane(step.task().id(), step.lane()), step.leaseEpoch(), step.spec());
        running.put(step.id(), lease);
        int dice = Math.floorMod(step.id().hashCode() + step.leaseEpoch(), 40);
        if (dice < 5) {
            WorstCase most = new WorstCase(Provider.MODEL, dice * 600, 400, true);
            waiting.add(lease);
            node.later(Duration.ofMillis(1), () -> node.own(new Command.Hold(run, step.id(), lease.epoch(), most,
                    dice == 3, Actor.agent(node.name())), reply -> held(lease, most, reply)));
        }
        node.later(Tools.time(node.sim), () -> report(lease));
    }

    /** Sends the request whose worst case is held. */
    private void held(Held lease, WorstCase most, Reply reply) {
        ModelPrice price = node.sim.prices.models().get(Provider.MODEL);
        if (waiting.remove(lease) && reply instanceof Reply.Claimed && lease.equals(running.get(lease.stepId()))
                && price != null) {
            node.sim.store.provider.send(node.sim.store.run(lease.runId()), lease, most, price);
        }
    }

    /** Without a reply to its hold, it has sent nothing, and sends nothing any more. */
    private void report(Held lease) {
        waiting.remove(lease);
        if (CallServer.has(node.sim, lease)) {
            new ForeignCall(node, lease, () -> lease.equals(running.get(lease.stepId())),
                    () -> running.remove(lease.stepId(), lease)).execute();
        } else if (running.remove(lease.stepId(), lease)) {
            node.own(node.sim.store.provider.honest(Tools.report(node.sim, lease, null, Actor.agent(node.name()))));
        }
    }

    /** A node that leaves hands its work back. */
    void handBack() {
        running.values().forEach(lease -> node.own(node.sim.store.provider.honest(
                new Command.Release(lease.runId(), lease.stepId(), lease.epoch(), Actor.agent(node.name())))));
        running.clear();
    }
}
