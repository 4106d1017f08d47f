package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.Actor;
import io.keelson.core.run.AgentPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Ends a run: with all its open parts when it is cancelled or fails at once. */
final class RunEnd {
    private RunEnd() {}

    /** Cancels the whole run. */
    static void cancelRun(Decision d, @Nullable String reason) {
        d.run.errorCode = "RUN_CANCELLED";
        d.run.errorMessage = reason == null ? "cancelled" : reason;
        Proposals.withdraw(d);
        String why = d.run.errorMessage;
        int remaining = d.view.tasksOpen;
        abandon(d, RunState.CANCELLED, new TaskPayload.Cancelled(d.by(), why, false), Set.of(),
                credits -> new RunPayload.Cancelled(d.by(), remaining, why, credits));
        Undoing.ended(d);
    }

    /**
     * The payload of a run's failure; the run's error is set.
     *
     * @param reason null for the error's code in lower case
     * @param failing the task that it fails for; null for the first that has failed for good, if any
     * @param failedBy the person who failed it; null if absent
     * @param rejectedBy the person who rejected its plan or result; null if absent
     */
    static Function<PayloadPart.@Nullable Settled, RunPayload> failed(Decision d, @Nullable String reason,
            @Nullable TaskRow failing, @Nullable String failedBy, @Nullable String rejectedBy) {
        String code = String.valueOf(d.run.errorCode);
        UUID task = failing != null ? failing.id()
                : d.view.tasks.values().stream()
                        .filter(each -> each.state == TaskState.FAILED && !each.failureIgnored).findFirst()
                        .map(TaskRow::id)
                        .orElse(null);
        return credits -> new RunPayload.Failed(reason == null ? code.toLowerCase(Locale.ROOT) : reason, task,
                d.run.cost.stripTrailingZeros(), code, String.valueOf(d.run.errorMessage), failedBy, rejectedBy,
                credits);
    }

    /** Ends the run: removes its queue rows and timers. */
    static void end(Decision d, RunState state, Function<PayloadPart.@Nullable Settled, RunPayload> payload) {
        boolean begun = d.run.state != RunState.CREATED;
        Tickets.voidAll(d);
        d.run.gate = RunRow.Gate.NONE;
        d.run.quietSince = null;
        d.run.failures = (int) IgnoredFailure.in(d.view).count();
        ChangeSet.Account credits = Credits.settle(d);
        EventPayloads.verificationShare(d);
        EventPayloads.snapshot(d);
        d.move(state, payload.apply(begun ? Credits.settled(credits) : null));
        d.changes.clear(d.view);
        if (!d.view.artifacts.isEmpty()) {
            d.changes.endArtifacts(d.run);
        }
        ChildLinks.runEnded(d);
        d.view.watchDue = null;
        d.view.startDue = null;
        d.view.evaluatingOutput = false;
        d.view.evaluatingPlan = false;
        if (begun) {
            d.recordAttempt(credits);
        }
    }

    /** Fails the run with an error, and ends all its open parts. */
    static void abort(Decision d, String reason, @Nullable TaskRow failing, StepError error) {
        d.run.errorCode = error.code();
        d.run.errorMessage = error.message();
        failAll(d, reason, failing, null, null);
    }

    /** Fails the run, whose error is set, and ends all its open parts; see {@link #failed}. */
    static void failAll(Decision d, @Nullable String reason, @Nullable TaskRow failing, @Nullable String failedBy,
            @Nullable String rejectedBy) {
        abandon(d, RunState.FAILED, new TaskPayload.Cancelled(
                failedBy != null ? failedBy : rejectedBy != null ? rejectedBy : Actor.SYSTEM.name(), "the run failed",
                false), atFault(d, failing), failed(d, reason, failing, failedBy, rejectedBy));
        Undoing.ended(d);
    }

    /**
     * The agents that fail with the run: the failing task's agent and all failing agents; otherwise the agents at work;
     * otherwise the open agents. Empty while no agent has begun.
     */
    private static Set<AgentRow> atFault(Decision d, @Nullable TaskRow failing) {
        Set<AgentRow> open = agents(d, agent -> !agent.state.terminal());
        Set<AgentRow> guilty = agents(d, agent -> open.contains(agent) && agent.begunAt != null
                && (agent.failing || failing != null && failing.agent() == agent));
        Set<AgentRow> begun = agents(d, agent -> open.contains(agent) && agent.begunAt != null);
        if (!guilty.isEmpty() || !begun.isEmpty()) {
            return guilty.isEmpty() ? begun : guilty;
        }
        return agents(d, agent -> agent.startedAt != null).isEmpty() ? Set.of() : open;
    }

    private static Set<AgentRow> agents(Decision d, Predicate<AgentRow> which) {
        return d.view.agents.stream().filter(agent -> !agent.system()).filter(which).collect(Collectors.toSet());
    }

    /**
     * Ends the run and all its open parts.
     *
     * @param atFault agents that end failed instead of cancelled
     */
    private static void abandon(Decision d, RunState end, TaskPayload.Cancelled why, Set<AgentRow> atFault,
            Function<PayloadPart.@Nullable Settled, RunPayload> payload) {
        for (TaskRow task : d.view.tasks.values()) {
            if (!task.terminal()) {
                TaskMoves.cancelSteps(d, task);
                TaskMoves.cancel(d, task, why);
                d.view.tasksOpen--;
                task.agent().tasksOpen--;
            }
        }
        for (AgentRow agent : d.view.agents) {
            if (atFault.contains(agent)) {
                SlotScheduling.start(d, agent);
                d.move(agent, AgentState.FAILED, new AgentPayload.Failed(false));
            } else if (!agent.state.terminal()) {
                d.move(agent, AgentState.CANCELLED, new AgentPayload.Cancelled());
            }
        }
        end(d, end, payload);
    }
}
