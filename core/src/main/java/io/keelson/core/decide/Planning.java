package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Begins attempts: opens the plan of a run, asks for its approval, and starts what may start. */
final class Planning {
    private Planning() {}

    /**
     * {@code created} or {@code retrying} → {@code pending}. Without a plan, or where a person approves it, the run is
     * {@code planning} next; else it stays {@code pending} until its first step begins. A run with a concurrency key
     * stays {@code pending} until it is admitted.
     */
    static void begin(Decision d, boolean approved, PlanRows.Kept kept) {
        d.move(RunState.PENDING, new RunPayload.Queued(d.run.reserved));
        boolean missing = FirstPlan.missing(d);
        if (d.run.policy().concurrency() != null) {
            if (!missing) {
                PlanRows.spawnAll(d, kept);
            }
            d.recordAttempt();
        } else if (missing) {
            FirstPlan.begin(d);
        } else {
            PlanRows.spawnAll(d, kept);
            acceptGivenPlan(d, approved);
        }
    }

    /** The plan was given: a person approves it, or its first steps wait to be claimed. */
    private static void acceptGivenPlan(Decision d, boolean approved) {
        if (d.run.policy().approvePlan() && !approved) {
            d.move(RunState.PLANNING, new RunPayload.PlanningStarted(d.run.policy().failures().models().planner()));
            open(d, ready(d), true);
        } else {
            d.note(new RunPayload.PlanningStarted(d.run.policy().failures().models().planner()));
            d.note(ready(d));
            approved(d);
            run(d);
        }
    }

    /** A {@code pending} run is admitted. A plan that was executed before needs no further approval. */
    static void admit(Decision d) {
        if (FirstPlan.missing(d)) {
            FirstPlan.begin(d);
        } else {
            d.move(RunState.PLANNING, new RunPayload.PlanningStarted(d.run.policy().failures().models().planner()));
            open(d, ready(d), d.run.policy().approvePlan() && d.run.startedAt == null);
        }
    }

    private static RunPayload.PlanReady ready(Decision d) {
        return new RunPayload.PlanReady(d.run.taskCount,
                d.run.policy().budget().estimate(d.funds.prices()).stripTrailingZeros(),
                d.view.requirePlan().strategy(), d.run.planVersion, null);
    }

    /**
     * The plan exists.
     *
     * @param ready the payload of its event
     * @param asks whether a person is asked first
     */
    static void open(Decision d, RunPayload.PlanReady ready, boolean asks) {
        if (asks) {
            d.move(RunState.AWAITING_APPROVAL, ready);
            d.ask(d.run.id());
            d.recordAttempt();
        } else {
            d.move(RunState.READY, ready);
            approved(d);
            run(d);
        }
    }

    /** No approval is required; later attempts have the approval of the first. */
    private static void approved(Decision d) {
        if (d.run.attempt == 1) {
            d.note(new RunPayload.Approved(RunPayload.AUTO, List.of(), null));
        }
    }

    /** The plan's gate is open: its first steps wait to be claimed, and the run is running from the first claim. */
    static void run(Decision d) {
        d.recordAttempt();
        if (LimitStop.stopped(d)) {
            return;
        }
        Completion.judgeAll(d);
        d.view.agents.forEach(agent -> Completion.end(d, agent));
        Completion.settle(d);
    }

    /** A new attempt of a failed run with new rows; the old ones stay with their attempt. */
    static void retry(Decision d, boolean fromStart) {
        PlanRows.Kept kept = AttemptRestarts.renew(d, fromStart, null);
        begin(d, d.run.startedAt != null, kept);
    }

    /**
     * A {@code for_each} has its items: creates one child per item that no completed one of an earlier attempt is, and the
     * group runs until they have ended.
     *
     * @param generations effect generations of earlier children, by their items' indexes
     */
    static void fanOut(Decision d, TaskRow group, List<String> items, Map<Integer, Integer> generations,
            List<String> titles) {
        d.move(group, TaskState.QUEUED, EventPayloads.queued(group));
        d.move(group, TaskState.ASSIGNED, EventPayloads.assigned(group, null));
        d.move(group, TaskState.RUNNING, new TaskPayload.Started(group.attempt, items.size(), null));
        Set<Integer> carried = new HashSet<>();
        for (TaskRow child : List.copyOf(group.children)) {
            if (child.itemIndex() < items.size() && items.get(child.itemIndex()).equals(child.item())) {
                carried.add(child.itemIndex());
            } else {
                TaskMoves.drop(d, child);
            }
        }
        for (int i = 0; i < items.size(); i++) {
            if (carried.contains(i)) {
                continue;
            }
            TaskSpec spec = titles.isEmpty() ? group.spec() : group.spec().titled(titles.get(i));
            TaskRow child = new TaskRow(d.ids.next(), group.key() + "[" + i + "]", group.sequence(), spec,
                    group.agent(), group, i, items.get(i));
            child.effectGeneration = generations.getOrDefault(i, 1);
            PlanRows.add(d, child);
            PlanRows.recordCreated(d, child);
        }
        for (TaskRow child : List.copyOf(group.children)) {
            if (!child.terminal()) {
                TaskMoves.queue(d, child);
            }
        }
        if (group.childrenOpen == 0) {
            TaskMoves.evaluateOutput(d, group);
        }
    }

    /** An agent's next attempt is due; while the run is paused it waits for the resume. */
    static void agentDue(Decision d, AgentRow agent) {
        if (agent.nextRunAt != null && agent.nextRunAt.isAfter(d.now)) {
            return;
        }
        d.disarm(TimerKind.AGENT_RETRY, agent.id());
        if (AttemptRestarts.begin(d, agent)) {
            Completion.judgeAll(d);
            Completion.settle(d);
        }
    }

    /** A run's next attempt is due. */
    static void runDue(Decision d) {
        d.disarm(TimerKind.RUN_RETRY, d.run.id());
        if (d.run.state != RunState.RETRYING) {
            return;
        }
        Reply.Rejected refusal = Credits.reserve(d, d.run.attempt);
        if (refusal == null) {
            begin(d, true, PlanRows.Kept.NOTHING);
        } else {
            RunEnd.abort(d, refusal.code().toLowerCase(Locale.ROOT), null,
                    new StepError(refusal.code(), ErrorClass.PERMANENT, refusal.message()));
        }
    }
}
