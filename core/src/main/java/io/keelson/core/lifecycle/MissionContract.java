package io.keelson.core.lifecycle;

/**
 * The runs and tasks of PRD-101. Its text on stalls adds {@code assigned} to {@code queued}; the handoff contract adds
 * {@code running} to {@code skipped}.
 */
final class MissionContract {

    private static final String NAME = "mission";
    private static final String RUN_CANCELLED = "the run or the task is cancelled";

    private MissionContract() {}

    static Contract contract() {
        return new Contract(NAME, "PRD-101 Mission Schema", run(), task(), null);
    }

    private static Projection<RunState> run() {
        ContractTable<RunState> t = new ContractTable<>(NAME, Lifecycles.RUN);
        t.state("pending", StateType.PENDING, RunState.CREATED, RunState.PENDING, RunState.RETRYING);
        t.state("planning", StateType.PENDING, RunState.PLANNING);
        t.state("awaiting_approval", StateType.PENDING, RunState.AWAITING_APPROVAL);
        t.state("running", StateType.RUNNING, RunState.READY, RunState.RUNNING, RunState.RESUMING);
        t.state("paused", StateType.PAUSED, RunState.PAUSED, RunState.ESCALATED);
        t.state("budget_exceeded", StateType.PAUSED, RunState.BUDGET_EXCEEDED);
        t.state("completed", StateType.TERMINAL, RunState.COMPLETED, RunState.SKIPPED);
        t.state("failed", StateType.TERMINAL, RunState.FAILED);
        t.state("cancelled", StateType.TERMINAL, RunState.CANCELLED);

        t.from("pending").to("planning", "mission created").to("cancelled", "cancel");
        t.from("planning").to("awaiting_approval", "plan complete").to("running", "plan complete, no gate needed")
                .to("cancelled", "cancel");
        t.from("awaiting_approval").to("running", "a person approves").to("failed", "a person rejects")
                .to("cancelled", "cancel");
        t.from("running").to("completed", "all tasks ended and passed").to("failed", "a task failed for good")
                .to("paused", "pause").to("budget_exceeded", "hard limit crossed").to("cancelled", "cancel");
        t.from("paused").to("running", "resume").to("cancelled", "cancel");
        t.from("budget_exceeded").to("running", "budget raised").to("cancelled", "cancel");
        return t.build();
    }

    private static Projection<TaskState> task() {
        ContractTable<TaskState> t = new ContractTable<>(NAME, Lifecycles.TASK);
        for (TaskState state : TaskState.values()) {
            t.state(state.wire(), state.type(), state);
        }
        t.from("pending").to("queued", "upstreams done").to("skipped", "an upstream failed")
                .to("cancelled", RUN_CANCELLED);
        t.from("queued").to("assigned", "agent chosen").to("cancelled", RUN_CANCELLED);
        t.from("assigned").to("running", "the agent begins").to("queued", "no start in time")
                .to("cancelled", RUN_CANCELLED);
        t.from("running").to("continuing", "clean exit, needs more turns").to("verifying", "output handed in")
                .to("failed", "infrastructure failure").to("awaiting_retry", "infrastructure failure, retries remain")
                .to("skipped", "all its steps were skipped").to("cancelled", RUN_CANCELLED);
        t.from("continuing").to("running", "next turn").to("cancelled", RUN_CANCELLED);
        t.from("verifying").to("completed", "verifier passes").to("awaiting_human", "verifier is unsure")
                .to("awaiting_retry", "verifier rejects, retries remain").to("failed", "verifier rejects for good")
                .to("cancelled", RUN_CANCELLED);
        t.from("awaiting_human").to("completed", "a person approves")
                .to("awaiting_retry", "a person rejects, retries remain").to("failed", "a person rejects for good")
                .to("cancelled", RUN_CANCELLED);
        t.from("awaiting_retry").to("assigned", "backoff over").to("cancelled", RUN_CANCELLED);
        return t.build();
    }
}
