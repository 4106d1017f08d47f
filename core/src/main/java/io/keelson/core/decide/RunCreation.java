package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Funds;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Creates runs: for clients, and for steps that start child runs. */
final class RunCreation {
    private RunCreation() {}

    /** @param parent the run whose step starts it; null if absent */
    static Created create(Command.Create command, @Nullable ParentRow parent, ChangeSet changes, Instant now, Ids ids,
            LocalCapacity capacity, Funds funds) {
        RunView view = created(command.run(), parent);
        view.createdAt = now;
        Decision d = new Decision(view, changes, now, ids, capacity, funds, command.actor());
        Instant later = DeferredStart.later(command.run(), now);
        boolean begins = later == null
                && (command.start() || command.run().fork() != null || command.run().startAt() != null);
        Reply.Rejected refusal = begins ? Credits.reserve(d, 1) : later == null ? Credits.missing(d) : null;
        if (refusal != null) {
            return new Created(refusal, null);
        }
        changes.insert(command.run());
        d.note(DeferredStart.created(command.run(), later));
        if (later != null) {
            DeferredStart.at(d, later);
        }
        NewRun.Fork fork = command.run().fork();
        if (begins) {
            Planning.begin(d, false,
                    fork == null ? PlanRows.Kept.NOTHING : new PlanRows.Kept(fork.carried(), Map.of(), Map.of()));
        }
        LimitStop.after(d);
        TimeoutMonitor.after(d, RunState.CREATED);
        return new Created(Reply.CHANGED, view);
    }

    /** A run's row when accepted. */
    static RunView created(NewRun run, @Nullable ParentRow parent) {
        RunRow row = new RunRow(run.id(), run.workspaceId(), run.name(), run.priority(), run.policy(),
                run.outputTemplate()).traced(run.origin().trace());
        row.planVersion = Math.min(run.plan().version(), row.planVersion);
        row.parent = parent;
        row.hardLimit = parent == null ? null : parent.allotment();
        BigDecimal own = run.policy().budget().hardLimit();
        if (row.hardLimit != null && own != null) {
            row.hardLimit = row.hardLimit.min(own);
        }
        return new RunView(row, run.plan());
    }
}
