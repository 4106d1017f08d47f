package io.keelson.core.lifecycle;

import java.util.ArrayList;
import java.util.List;

/**
 * The four canonical lifecycles as data (specification, lifecycle §1–4). Event names are PRD-101's first. The command
 * line, the API and the docs print these tables; the engine's one door per entity obeys them.
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
        t.from(RunState.CREATED).to(RunState.PENDING, "start", "run_queued")
                .to(RunState.CANCELLED, "cancel", "run_cancelled");
        t.from(RunState.PENDING).to(RunState.PLANNING, "a node picks it up", "run_planning_started")
                .to(RunState.CANCELLED, "cancel", "run_cancelled")
                .to(RunState.FAILED, "not picked up in time", "run_failed");
        t.from(RunState.PLANNING).to(RunState.AWAITING_APPROVAL, "plan ready, a human decides", "run_plan_ready")
                .to(RunState.RUNNING, "plan ready, no gate needed", "run_started")
                .to(RunState.FAILED, "plan impossible", "run_failed").to(RunState.CANCELLED, "cancel", "run_cancelled");
        t.from(RunState.AWAITING_APPROVAL).to(RunState.RUNNING, "approve", "run_started")
                .to(RunState.FAILED, "reject", "run_failed").to(RunState.CANCELLED, "cancel", "run_cancelled");
        t.from(RunState.RUNNING).to(RunState.COMPLETED, "all work ended well", "run_completed")
                .to(RunState.SKIPPED, "every agent was skipped", "run_skipped")
                .to(RunState.FAILED, "an agent failed for good, or time is up", "run_failed")
                .to(RunState.PAUSED, "pause", "run_paused")
                .to(RunState.BUDGET_EXCEEDED, "hard limit or reservation reached", "run_budget_exceeded")
                .to(RunState.ESCALATED, "the failure policy asks for a human", "run_escalated")
                .to(RunState.CANCELLED, "cancel", "run_cancelled");
        t.from(RunState.PAUSED).to(RunState.RESUMING, "resume", "run_resuming")
                .to(RunState.CANCELLED, "cancel, or paused for too long", "run_cancelled")
                .to(RunState.FAILED, "resume impossible", "run_failed");
        t.from(RunState.BUDGET_EXCEEDED).to(RunState.RESUMING, "budget raised", "run_budget_increased")
                .to(RunState.CANCELLED, "cancel", "run_cancelled")
                .to(RunState.FAILED, "a human fails it", "run_failed");
        t.from(RunState.ESCALATED).to(RunState.RESUMING, "ticket resolved with resume", "run_resuming")
                .to(RunState.CANCELLED, "cancel", "run_cancelled")
                .to(RunState.FAILED, "ticket resolved with fail", "run_failed");
        t.from(RunState.RESUMING).to(RunState.RUNNING, "work is queued again", "run_resumed")
                .to(RunState.FAILED, "not queued in time", "run_failed")
                .to(RunState.CANCELLED, "cancel", "run_cancelled").to(RunState.PAUSED, "pause again", "run_paused");
        t.from(RunState.FAILED).to(RunState.RETRYING, "retry, while attempts are left", "run_retrying");
        t.from(RunState.RETRYING).to(RunState.PENDING, "a node picks it up", "run_queued")
                .to(RunState.FAILED, "not picked up in time", "run_failed")
                .to(RunState.CANCELLED, "cancel", "run_cancelled");
        return new Lifecycle<>("run", RunState.class, RunState.CREATED, t.edges);
    }

    private static Lifecycle<AgentState> agent() {
        Table<AgentState> t = new Table<>();
        t.from(AgentState.PENDING).to(AgentState.RUNNING, "its first task is ready", "agent_started")
                .to(AgentState.PAUSED, "the run is paused", "agent_paused")
                .to(AgentState.CANCELLED, "the run ends", "agent_cancelled")
                .to(AgentState.SKIPPED, "all its tasks were skipped", "agent_skipped");
        t.from(AgentState.RUNNING).to(AgentState.COMPLETED, "all its tasks ended well", "agent_completed")
                .to(AgentState.FAILED, "a task failed for good", "agent_failed")
                .to(AgentState.SKIPPED, "all its tasks were skipped", "agent_skipped")
                .to(AgentState.PAUSED, "the run is paused", "agent_paused")
                .to(AgentState.CANCELLED, "the run ends", "agent_cancelled")
                .to(AgentState.PENDING, "the agent starts over", "agent_retrying");
        t.from(AgentState.PAUSED).to(AgentState.PENDING, "the run resumes", "agent_resumed")
                .to(AgentState.CANCELLED, "the run ends", "agent_cancelled")
                .to(AgentState.FAILED, "resume impossible", "agent_failed");
        return new Lifecycle<>("agent", AgentState.class, AgentState.PENDING, t.edges);
    }

    private static Lifecycle<TaskState> task() {
        Table<TaskState> t = new Table<>();
        t.from(TaskState.PENDING).to(TaskState.QUEUED, "upstreams done", "task_queued")
                .to(TaskState.SKIPPED, "its rule can no longer hold, or `when` is false", "task_skipped")
                .to(TaskState.CANCELLED, "the run ends", "task_cancelled");
        t.from(TaskState.QUEUED).to(TaskState.ASSIGNED, "agent chosen, lease given", "task_assigned")
                .to(TaskState.CANCELLED, "the run ends", "task_cancelled");
        t.from(TaskState.ASSIGNED).to(TaskState.RUNNING, "work begins", "task_started")
                .to(TaskState.QUEUED, "no start in time", "task_requeued")
                .to(TaskState.CANCELLED, "the run ends", "task_cancelled")
                .to(TaskState.FAILED, "cannot start", "task_failed")
                .to(TaskState.AWAITING_RETRY, "failed, may be tried again", "task_retrying");
        t.from(TaskState.RUNNING).to(TaskState.CONTINUING, "clean exit, needs more turns", "task_continuing")
                .to(TaskState.VERIFYING, "output handed in", "task_output_submitted")
                .to(TaskState.AWAITING_RETRY, "failed, may be tried again", "task_retrying")
                .to(TaskState.COMPLETED, "nothing to verify", "task_completed")
                .to(TaskState.FAILED, "failed for good", "task_failed")
                .to(TaskState.SKIPPED, "all its steps were skipped", "task_skipped")
                .to(TaskState.CANCELLED, "the run ends", "task_cancelled")
                .to(TaskState.AWAITING_HUMAN, "a human decides", "task_human_review_requested");
        t.from(TaskState.CONTINUING).to(TaskState.RUNNING, "next turn", "task_resumed")
                .to(TaskState.FAILED, "turn limit reached", "task_failed")
                .to(TaskState.CANCELLED, "the run ends", "task_cancelled");
        t.from(TaskState.VERIFYING).to(TaskState.COMPLETED, "verdict: passed", "task_verification_passed")
                .to(TaskState.AWAITING_RETRY, "verdict: rejected", "task_verification_failed")
                .to(TaskState.AWAITING_HUMAN, "verdict: unsure, or none in time", "task_human_review_requested")
                .to(TaskState.FAILED, "rejected for good", "task_failed")
                .to(TaskState.CANCELLED, "the run ends", "task_cancelled");
        t.from(TaskState.AWAITING_HUMAN).to(TaskState.COMPLETED, "a human approves", "task_human_approved")
                .to(TaskState.AWAITING_RETRY, "a human asks for another try", "task_human_rejected")
                .to(TaskState.FAILED, "a human rejects", "task_failed")
                .to(TaskState.CANCELLED, "the run ends", "task_cancelled");
        t.from(TaskState.AWAITING_RETRY).to(TaskState.ASSIGNED, "backoff over, slot kept", "task_assigned")
                .to(TaskState.QUEUED, "backoff over", "task_queued")
                .to(TaskState.CANCELLED, "the run ends", "task_cancelled")
                .to(TaskState.FAILED, "ticket resolved so", "task_failed")
                .to(TaskState.SKIPPED, "ticket resolved so", "task_skipped");
        return new Lifecycle<>("task", TaskState.class, TaskState.PENDING, t.edges);
    }

    private static Lifecycle<StepState> step() {
        Table<StepState> t = new Table<>();
        t.from(StepState.PENDING).to(StepState.RUNNING, "claimed", "step_started")
                .to(StepState.WAITING, "a timer, a signal or a child run", "step_waiting")
                .to(StepState.WAITING_APPROVAL, "an approval's turn has come", "step_approval_requested")
                .to(StepState.CANCELLED, "the run ends", "step_cancelled")
                .to(StepState.SKIPPED, "not needed", "step_skipped");
        t.from(StepState.WAITING).to(StepState.COMPLETED, "what it waited for came", "step_completed")
                .to(StepState.FAILED, "it will not come", "step_failed")
                .to(StepState.CANCELLED, "the run ends", "step_cancelled");
        t.from(StepState.RUNNING).to(StepState.COMPLETED, "result recorded", "step_completed")
                .to(StepState.FAILED, "failed for good", "step_failed")
                .to(StepState.AWAITING_RETRY, "failed, may be tried again", "step_retrying")
                .to(StepState.CANCELLED, "the run ends", "step_cancelled")
                .to(StepState.RUNNING, "claimed again under a new epoch", "step_reclaimed");
        t.from(StepState.AWAITING_RETRY).to(StepState.RUNNING, "claimed after its backoff", "step_started")
                .to(StepState.CANCELLED, "the run ends", "step_cancelled")
                .to(StepState.FAILED, "ticket resolved so", "step_failed")
                .to(StepState.SKIPPED, "ticket resolved so", "step_skipped");
        t.from(StepState.WAITING_APPROVAL).to(StepState.COMPLETED, "a human approves", "step_approved")
                .to(StepState.FAILED, "a human rejects", "step_rejected")
                .to(StepState.CANCELLED, "the run ends", "step_cancelled");
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

            private Row to(S to, String by, String event) {
                edges.add(new Edge<>(from, to, by, event));
                return this;
            }
        }
    }
}
