package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Chain;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.Created;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.StepRow;
import io.keelson.core.money.Funds;
import io.keelson.core.money.OptimisticBalances;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A new run whose first chain its node executes before the run's first commit, as the server does. The draft of its creation has
 * the steps, and the commit decides again. Other than the server's, the run may have more tasks than one.
 *
 * @param members of the chain
 */
record DraftedRun(Command.Create create, List<UUID> ids, List<Held> members) {
    /** The name in the coverage of a creation and a report in one commit. */
    static final String IN_ONE_COMMIT = "CreateAndReport";

    /** Null for a run that is created before its first step begins. */
    static @Nullable DraftedRun of(Node node, Command.Create create) {
        Simulation sim = node.sim;
        if (!Executor.chains(sim.seed) || !create.start() || create.run().fork() != null || sim.chance(20)) {
            return null;
        }
        List<UUID> ids = new ArrayList<>();
        ChangeSet changes = new ChangeSet();
        Created draft = Decider.create(create, changes, sim.now(), () -> {
            ids.add(sim.nextId());
            return ids.getLast();
        }, Node.offer(node.name(), node.free()), new Funds(sim.prices, new OptimisticBalances()));
        if (draft.view() == null || changes.started().size() != 1) {
            return null;
        }
        StepRow first = changes.started().keySet().iterator().next();
        Chain chain = changes.chainOf(first);
        List<Held> members = new ArrayList<>();
        members.add(held(create, first, first.leaseEpoch()));
        if (!chain.repeatable() || Executor.dice(first) < 5 || CallServer.has(sim, members.getFirst())) {
            return null;
        }
        chain.steps().forEach(next -> members.add(held(create, next, next.leaseEpoch() + 1)));
        return new DraftedRun(create, ids, members);
    }

    private static Held held(Command.Create create, StepRow step, int epoch) {
        return new Held(create.run().id(), step.id(), new Lane(step.task().id(), step.lane()), epoch, step.spec());
    }

    /** @param reports of the ended steps */
    BatchListener.FirstSteps executed(List<Command.Report> reports, Actor who) {
        return new BatchListener.FirstSteps(ids, members.getFirst().spec().tool(),
                reports.size() < 2 ? reports.stream().findFirst().orElse(null)
                        : new Command.CompleteChain(create.run().id(), reports, false, who));
    }
}
