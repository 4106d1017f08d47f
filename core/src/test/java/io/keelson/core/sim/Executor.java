package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.StepRow;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.LostAnswer;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** A node's own executions. Stopped ones report nothing; those of a node that crashed are gone with it. */
final class Executor {
    private final Node node;
    private final Map<UUID, Held> running = new HashMap<>();

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
            node.own(new Command.Release(stopped.runId(), step, stopped.epoch(), null, List.of(new LostAnswer("model",
                    "0".repeat(64), Instant.EPOCH, Tokens.undivided(9), null)), Actor.agent(node.name())));
        }
    }

    void start(UUID run, StepRow step) {
        Held lease = new Held(run, step.id(), new Lane(step.task().id(), step.lane()), step.leaseEpoch(), step.spec());
        running.put(step.id(), lease);
        int dice = Math.floorMod(step.id().hashCode() + step.leaseEpoch(), 40);
        if (dice < 5) {
            WorstCase most = new WorstCase("model", dice * 600, 400, true);
            node.later(Duration.ofMillis(1), () -> node.own(new Command.Hold(run, step.id(), lease.epoch(), most,
                    dice == 3, Actor.agent(node.name()))));
        }
        node.later(Tools.time(node.sim), () -> {
            if (running.remove(step.id(), lease)) {
                node.own(Tools.report(node.sim, lease, null, Actor.agent(node.name())));
            }
        });
    }

    /** A node that leaves hands its work back. */
    void handBack() {
        running.values().forEach(lease -> node.own(
                new Command.Release(lease.runId(), lease.stepId(), lease.epoch(), Actor.agent(node.name()))));
        running.clear();
    }
}
