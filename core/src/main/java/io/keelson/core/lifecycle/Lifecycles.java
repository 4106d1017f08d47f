package io.keelson.core.lifecycle;

import java.util.ArrayList;
import java.util.List;

/**
 * The four canonical lifecycles as data. Event names are PRD-101's first. The command
 * line, the API and the docs print these tables; the engine's {@code move} methods obey them.
 */
public final class Lifecycles {

    public static final Lifecycle<RunState> RUN = run();
    public static final Lifecycle<AgentState> AGENT = agent();
    public static final Lifecycle<TaskState> TASK = task();
    public static final Lifecycle<StepState> STEP = step();

    private Lifecycles() {}

    /** All four, outermost entity first. */
    public static List<Lifecycle<?>> all() {
        return List.of(RUN, AGENT, TASK, STEP);
    }

    private static Lifecycle<RunState> run() {
        Table<RunState> t = new Table<>();
        t.from(RunState.CREATED).to(RunState.PENDING, "start", EventType.RUN_QUEUED)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED);
        t.from(RunState.PENDING).to(RunState.PLANNING, "a node picks it up", EventType.RUN_PLANNING_STARTED)
                .to(RunState.RUNNING, "the plan was given, and its first step begins", EventType.RUN_STARTED)
                .to(RunState.PAUSED, "pause", EventType.RUN_PAUSED)
                .to(RunState.BUDGET_EXCEEDED, "the hard limit does not allow the first step",
                        EventType.RUN_BUDGET_EXCEEDED)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED)
                .to(RunState.FAILED, "no step begins in time, or none can", EventType.RUN_FAILED);
        t.from(RunState.PLANNING)
                .to(RunState.AWAITING_APPROVAL, "plan ready, a person decides", EventType.RUN_PLAN_READY)
                .to(RunState.READY, "plan ready, no gate needed", EventType.RUN_PLAN_READY)
                .to(RunState.FAILED, "plan impossible", EventType.RUN_FAILED)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED);
        t.from(RunState.AWAITING_APPROVAL).to(RunState.READY, "approve", EventType.RUN_APPROVED)
                .to(RunState.FAILED, "reject", EventType.RUN_FAILED)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED);
        t.from(RunState.READY).to(RunState.RUNNING, "its first step begins", EventType.RUN_STARTED)
                .to(RunState.PAUSED, "pause", EventType.RUN_PAUSED)
                .to(RunState.BUDGET_EXCEEDED, "the hard limit does not allow the first step",
                        EventType.RUN_BUDGET_EXCEEDED)
                .to(RunState.FAILED, "no step begins in time, or none can", EventType.RUN_FAILED)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED);
        t.from(RunState.RUNNING).to(RunState.COMPLETED, "all work ended well", EventType.RUN_COMPLETED)
                .to(RunState.SKIPPED, "every agent was skipped", EventType.RUN_SKIPPED)
                .to(RunState.FAILED, "an agent failed for good, or time is up", EventType.RUN_FAILED)
                .to(RunState.PAUSED, "pause", EventType.RUN_PAUSED)
                .to(RunState.BUDGET_EXCEEDED, "hard limit, task budget or reservation reached",
                        EventType.RUN_BUDGET_EXCEEDED)
                .to(RunState.ESCALATED, "the failure policy asks for a person", EventType.RUN_ESCALATED)
                .to(RunState.CANCELLED, "cancel, of the run or of all its work", EventType.RUN_CANCELLED);
        t.from(RunState.PAUSED).to(RunState.RESUMING, "resume", EventType.RUN_RESUMING)
                .to(RunState.CANCELLED, "cancel, or paused for too long", EventType.RUN_CANCELLED)
                .to(RunState.FAILED, "resume impossible", EventType.RUN_FAILED);
        t.from(RunState.BUDGET_EXCEEDED).to(RunState.RESUMING, "budget raised", EventType.RUN_BUDGET_INCREASED)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED)
                .to(RunState.FAILED, "a person fails it", EventType.RUN_FAILED);
        t.from(RunState.ESCALATED).to(RunState.RESUMING, "ticket resolved with resume", EventType.RUN_RESUMING)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED)
                .to(RunState.FAILED, "ticket resolved with fail", EventType.RUN_FAILED);
        t.from(RunState.RESUMING).to(RunState.RUNNING, "work is queued again", EventType.RUN_RESUMED)
                .to(RunState.FAILED, "not queued in time", EventType.RUN_FAILED)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED)
                .to(RunState.PAUSED, "pause again", EventType.RUN_PAUSED);
        t.from(RunState.FAILED).to(RunState.RETRYING, "retry, while attempts are left", EventType.RUN_RETRYING);
        t.from(RunState.RETRYING).to(RunState.PENDING, "a node picks it up", EventType.RUN_QUEUED)
                .to(RunState.FAILED, "not picked up in time", EventType.RUN_FAILED)
                .to(RunState.CANCELLED, "cancel", EventType.RUN_CANCELLED);
        return new Lifecycle<>("run", RunState.class, RunState.CREATED, t.edges);
    }

    private static Lifecycle<AgentState> agent() {
        Table<AgentState> t = new Table<>();
        t.from(AgentState.PENDING).to(AgentState.RUNNING, "its first task begins", EventType.AGENT_STARTED)
                .to(AgentState.PAUSED, "the run is paused", EventType.AGENT_PAUSED)
                .to(AgentState.CANCELLED, "the run ends", EventType.AGENT_CANCELLED)
                .to(AgentState.SKIPPED, "all its tasks were skipped", EventType.AGENT_SKIPPED);
        t.from(AgentState.RUNNING)
                .to(AgentState.COMPLETED, "its tasks ended, at least one completed", EventType.AGENT_COMPLETED)
                .to(AgentState.FAILED, "a task failed for good, or its run fails", EventType.AGENT_FAILED)
                .to(AgentState.SKIPPED, "all its tasks were skipped", EventType.AGENT_SKIPPED)
                .to(AgentState.PAUSED, "the run is paused", EventType.AGENT_PAUSED)
                .to(AgentState.CANCELLED, "the run ends", EventType.AGENT_CANCELLED)
                .to(AgentState.PENDING, "the agent starts over", EventType.AGENT_RETRYING);
        t.from(AgentState.PAUSED).to(AgentState.PENDING, "the run resumes", EventType.AGENT_RESUMED)
                .to(AgentState.CANCELLED, "the run ends", EventType.AGENT_CANCELLED)
                .to(AgentState.FAILED, "its run fails", EventType.AGENT_FAILED);
        return new Lifecycle<>("agent", AgentState.class, AgentState.PENDING, t.edges);
    }

    private static Lifecycle<TaskState> task() {
        Table<TaskState> t = new Table<>();
        t.from(TaskState.PENDING).to(TaskState.QUEUED, "upstreams done", EventType.TASK_QUEUED)
                .to(TaskState.SKIPPED, "its rule can no longer hold, or `when` is false", EventType.TASK_SKIPPED)
                .to(TaskState.CANCELLED, "the run ends", EventType.TASK_CANCELLED);
        t.from(TaskState.QUEUED).to(TaskState.ASSIGNED, "agent chosen, lease given", EventType.TASK_ASSIGNED)
                .to(TaskState.CANCELLED, "the run ends", EventType.TASK_CANCELLED);
        t.from(TaskState.ASSIGNED).to(TaskState.RUNNING, "work begins", EventType.TASK_STARTED)
                .to(TaskState.QUEUED, "no start in time", EventType.TASK_REQUEUED)
                .to(TaskState.CANCELLED, "the run ends", EventType.TASK_CANCELLED)
                .to(TaskState.FAILED, "cannot start", EventType.TASK_FAILED)
                .to(TaskState.AWAITING_RETRY, "failed, may be tried again", EventType.TASK_RETRYING);
        t.from(TaskState.RUNNING).to(TaskState.CONTINUING, "clean exit, needs more turns", EventType.TASK_CONTINUING)
                .to(TaskState.VERIFYING, "output handed in", EventType.TASK_OUTPUT_SUBMITTED)
                .to(TaskState.QUEUED, "lease lost, and no worker serves the tool", EventType.TASK_REQUEUED)
                .to(TaskState.AWAITING_RETRY, "failed, may be tried again", EventType.TASK_RETRYING)
                .to(TaskState.COMPLETED, "nothing to verify", EventType.TASK_COMPLETED)
                .to(TaskState.FAILED, "failed for good", EventType.TASK_FAILED)
                .to(TaskState.SKIPPED, "all its steps were skipped", EventType.TASK_SKIPPED)
                .to(TaskState.CANCELLED, "the run ends", EventType.TASK_CANCELLED)
                .to(TaskState.AWAITING_HUMAN, "a person decides", EventType.TASK_HUMAN_REVIEW_REQUESTED);
        t.from(TaskState.CONTINUING).to(TaskState.RUNNING, "next turn", EventType.TASK_RESUMED)
                .to(TaskState.FAILED, "turn limit reached", EventType.TASK_FAILED)
                .to(TaskState.CANCELLED, "the run ends", EventType.TASK_CANCELLED);
        t.from(TaskState.VERIFYING).to(TaskState.COMPLETED, "verdict: passed", EventType.TASK_VERIFICATION_PASSED)
                .to(TaskState.AWAITING_RETRY, "verdict: rejected", EventType.TASK_VERIFICATION_FAILED)
                .to(TaskState.AWAITING_HUMAN, "verdict: unsure, or none in time", EventType.TASK_HUMAN_REVIEW_REQUESTED)
                .to(TaskState.FAILED, "rejected for good", EventType.TASK_FAILED)
                .to(TaskState.CANCELLED, "the run ends", EventType.TASK_CANCELLED);
        t.from(TaskState.AWAITING_HUMAN).to(TaskState.COMPLETED, "a person approves", EventType.TASK_HUMAN_APPROVED)
                .to(TaskState.AWAITING_RETRY, "a person asks for another try", EventType.TASK_HUMAN_REJECTED)
                .to(TaskState.FAILED, "a person rejects", EventType.TASK_FAILED)
                .to(TaskState.CANCELLED, "the run ends", EventType.TASK_CANCELLED);
        t.from(TaskState.AWAITING_RETRY).to(TaskState.ASSIGNED, "backoff over, slot kept", EventType.TASK_ASSIGNED)
                .to(TaskState.QUEUED, "backoff over", EventType.TASK_QUEUED)
                .to(TaskState.CANCELLED, "the run ends", EventType.TASK_CANCELLED)
                .to(TaskState.FAILED, "ticket resolved so", EventType.TASK_FAILED)
                .to(TaskState.SKIPPED, "ticket resolved so", EventType.TASK_SKIPPED);
        return new Lifecycle<>("task", TaskState.class, TaskState.PENDING, t.edges);
    }

    private static Lifecycle<StepState> step() {
        Table<StepState> t = new Table<>();
        t.from(StepState.PENDING).to(StepState.RUNNING, "claimed", EventType.STEP_STARTED)
                .to(StepState.WAITING, "a timer, a signal or a child run", EventType.STEP_WAITING)
                .to(StepState.WAITING_APPROVAL, "an approval's turn has come", EventType.STEP_APPROVAL_REQUESTED)
                .to(StepState.CANCELLED, "the run ends", EventType.STEP_CANCELLED)
                .to(StepState.SKIPPED, "not needed", EventType.STEP_SKIPPED)
                .to(StepState.COMPLETED, "answered from another run's record or result",
                        EventType.STEP_COMPLETED);
        t.from(StepState.WAITING).to(StepState.COMPLETED, "what it waited for came", EventType.STEP_COMPLETED)
                .to(StepState.FAILED, "it will not come", EventType.STEP_FAILED)
                .to(StepState.RUNNING, "claimed again: a call of its program has ended", EventType.STEP_RECLAIMED)
                .to(StepState.CANCELLED, "the run ends", EventType.STEP_CANCELLED);
        t.from(StepState.RUNNING).to(StepState.COMPLETED, "result recorded", EventType.STEP_COMPLETED)
                .to(StepState.FAILED, "failed for good", EventType.STEP_FAILED)
                .to(StepState.AWAITING_RETRY, "failed, may be tried again", EventType.STEP_RETRYING)
                .to(StepState.CANCELLED, "the run ends", EventType.STEP_CANCELLED)
                .to(StepState.RUNNING, "claimed again under a new epoch", EventType.STEP_RECLAIMED)
                .to(StepState.WAITING, "a call of its program waits for a person", EventType.STEP_WAITING);
        t.from(StepState.AWAITING_RETRY).to(StepState.RUNNING, "claimed after its backoff", EventType.STEP_STARTED)
                .to(StepState.CANCELLED, "the run ends", EventType.STEP_CANCELLED)
                .to(StepState.FAILED, "ticket resolved so", EventType.STEP_FAILED)
                .to(StepState.SKIPPED, "ticket resolved so", EventType.STEP_SKIPPED);
        t.from(StepState.WAITING_APPROVAL).to(StepState.COMPLETED, "a person approves", EventType.STEP_APPROVED)
                .to(StepState.PENDING, "a person approves an agent's call", EventType.STEP_APPROVED)
                .to(StepState.FAILED, "a person rejects", EventType.STEP_REJECTED)
                .to(StepState.CANCELLED, "the run ends", EventType.STEP_CANCELLED);
        return new Lifecycle<>("step", StepState.class, StepState.PENDING, t.edges);
    }

    private static final class Table<S extends Enum<S> & State> {
        private final List<Edge<S>> edges = new ArrayList<>();

        private Row from(S from) {
            return new Row(from);
        }

        private final class Row {
            private final S from;

            private Row(S from) {
                this.from = from;
            }

            private Row to(S to, String by, EventType event) {
                edges.add(new Edge<>(from, to, by, event));
                return this;
            }
        }
    }
}
