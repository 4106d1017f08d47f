package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.StepRow;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.WorstCase;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/** A node's own executions. Stopped ones report nothing; those of a node that crashed are gone with it. */
final class Executor {
    private static final int CHAINED = 11;
    /** The least seed whose story has chains. */
    private static final int LEAST_CHAINED = 5;

    private final Node node;
    private final Map<UUID, Held> running = new HashMap<>();
    /** Leases that have asked for a hold and have no reply. */
    private final Set<Held> waiting = new HashSet<>();
    /** Executions of new runs that are not submitted. */
    private int drafts;

    Executor(Node node) {
        this.node = node;
    }

    int size() {
        return running.size() + drafts;
    }

    /**
     * Executes the first steps of a new run before its first commit. Some runs are created before a step ends.
     *
     * @param submit the creation of the run, with the executed steps
     */
    void draft(DraftedRun drafted, Consumer<BatchListener.FirstSteps> submit) {
        drafts++;
        node.later(Tools.time(node.sim), () -> {
            drafts--;
            submit.accept(drafted.executed(node.sim.chance(15) ? List.of() : reports(drafted.members(), 40),
                    Actor.agent(node.name())));
        });
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

    void start(UUID run, StepRow step, ChangeSet.Chain chain) {
        Held lease = new Held(run, step.id(), new Lane(step.task().id(), step.lane()), step.leaseEpoch(), step.spec());
        running.put(step.id(), lease);
        int dice = dice(step);
        if (chains(node.sim.seed) && dice >= 5 && !chain.steps().isEmpty() && !CallServer.has(node.sim, lease)) {
            List<Held> members = new ArrayList<>(List.of(lease));
            chain.steps().forEach(next -> members.add(
                    new Held(run, next.id(), lease.lane(), next.leaseEpoch() + 1, next.spec())));
            node.later(Tools.time(node.sim), () -> reportChain(members));
            return;
        }
        if (dice < 5) {
            WorstCase most = new WorstCase(Provider.MODEL, dice * 600, 400, true);
            waiting.add(lease);
            node.later(Duration.ofMillis(1), () -> node.own(new Command.Hold(run, step.id(), lease.epoch(), most,
                    dice == 3, Actor.agent(node.name())), reply -> held(lease, most, reply)));
        }
        node.later(Tools.time(node.sim), () -> report(lease));
    }

    /** Below 5 for a step that holds a worst case. */
    static int dice(StepRow step) {
        return Math.floorMod(step.id().hashCode() + step.leaseEpoch(), 40);
    }

    /** Sends the request whose worst case is held. */
    private void held(Held lease, WorstCase most, Reply reply) {
        ModelPrice price = node.sim.prices.models().get(Provider.MODEL);
        if (waiting.remove(lease) && reply instanceof Reply.Claimed && lease.equals(running.get(lease.stepId()))
                && price != null) {
            node.sim.store.provider.send(node.sim.store.run(lease.runId()), lease, most, price);
        }
    }

    /** Executes chains in some stories only: the others are as they were without. */
    static boolean chains(long seed) {
        return seed % CHAINED == LEAST_CHAINED;
    }

    /**
     * Reports the chain together, in two commands, or only its first steps: the others are executed again. A chain whose first
     * step has lost its lease reports nothing.
     */
    private void reportChain(List<Held> members) {
        if (!running.remove(members.getFirst().stepId(), members.getFirst())) {
            return;
        }
        List<Command.Report> reports = reports(members, 8);
        if (!reports.isEmpty()) {
            int cut = node.sim.chance(25) ? 1 + node.sim.random.nextInt(reports.size()) : reports.size();
            own(reports.subList(0, cut));
            if (cut < reports.size()) {
                own(reports.subList(cut, reports.size()));
            }
        }
    }

    /**
     * Reports of the first steps of a chain; no report if the first one does not end.
     *
     * @param outlasting in percent, the steps whose report has none of the step behind them
     */
    private List<Command.Report> reports(List<Held> members, int outlasting) {
        List<Command.Report> reports = new ArrayList<>();
        for (Held member : members) {
            Command report = Tools.report(node.sim, member, null, Actor.agent(node.name()));
            if (report instanceof Command.Report each) {
                reports.add(each);
            }
            if (!(report instanceof Command.Complete) || node.sim.chance(outlasting)) {
                break;
            }
        }
        return reports;
    }

    private void own(List<Command.Report> reports) {
        Command chain = new Command.CompleteChain(reports.getFirst().runId(), reports, node.sim.chance(20),
                Actor.agent(node.name()));
        node.own(chain, reply -> ReplyDurability.keep(chain, reply, node.sim.store.run(chain.runId())));
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
