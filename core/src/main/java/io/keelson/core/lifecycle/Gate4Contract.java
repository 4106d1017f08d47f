package io.keelson.core.lifecycle;

/** Orchestrator Controls: one machine for runs and for tasks, which are its work items. Ends are immutable. */
final class Gate4Contract {

    private static final String NAME = "gate4";
    private static final String STAYS = "repeated";

    private Gate4Contract() {}

    static Contract contract() {
        return new Contract(NAME, "Orchestrator Controls", run(), task(), null);
    }

    private static Projection<RunState> run() {
        ContractTable<RunState> t = new ContractTable<>(NAME, Lifecycles.RUN);
        t.state("received", StateType.PENDING, RunState.CREATED, RunState.RETRYING);
        t.state("queued", StateType.PENDING, RunState.PENDING);
        t.state("executing", StateType.RUNNING, RunState.PLANNING, RunState.READY, RunState.RUNNING, RunState.RESUMING);
        t.state("awaiting_tool", StateType.PAUSED);
        t.state("awaiting_user_confirmation", StateType.PAUSED, RunState.AWAITING_APPROVAL, RunState.PAUSED,
                RunState.BUDGET_EXCEEDED, RunState.ESCALATED);
        t.state("completed", StateType.TERMINAL, RunState.COMPLETED, RunState.SKIPPED);
        t.state("failed", StateType.TERMINAL, RunState.FAILED);
        t.state("cancelled", StateType.TERMINAL, RunState.CANCELLED);
        t.names(Circumstance.WAITS_FOR_TIMER, "awaiting_tool", RunState.RUNNING);
        t.names(Circumstance.WAITS_FOR_HUMAN, "awaiting_user_confirmation", RunState.RUNNING);
        return matrix(t);
    }

    private static Projection<TaskState> task() {
        ContractTable<TaskState> t = new ContractTable<>(NAME, Lifecycles.TASK);
        t.state("received", StateType.PENDING, TaskState.PENDING);
        t.state("queued", StateType.PENDING, TaskState.QUEUED, TaskState.ASSIGNED);
        t.state("executing", StateType.RUNNING, TaskState.RUNNING, TaskState.CONTINUING, TaskState.VERIFYING);
        t.state("awaiting_tool", StateType.PAUSED, TaskState.AWAITING_RETRY);
        t.state("awaiting_user_confirmation", StateType.PAUSED, TaskState.AWAITING_HUMAN);
        t.state("completed", StateType.TERMINAL, TaskState.COMPLETED);
        t.state("failed", StateType.TERMINAL, TaskState.FAILED);
        t.state("cancelled", StateType.TERMINAL, TaskState.CANCELLED, TaskState.SKIPPED);
        t.names(Circumstance.LATER_ATTEMPT, "awaiting_tool", TaskState.QUEUED, TaskState.ASSIGNED);
        t.names(Circumstance.WAITS_FOR_TIMER, "awaiting_tool", TaskState.RUNNING, TaskState.VERIFYING);
        t.names(Circumstance.WAITS_FOR_HUMAN, "awaiting_user_confirmation", TaskState.RUNNING);
        return matrix(t);
    }

    private static <S extends Enum<S> & State> Projection<S> matrix(ContractTable<S> t) {
        t.from("received").to("received", STAYS).to("queued", "enqueue").to("failed", "cannot be done")
                .to("cancelled", "cancel");
        t.from("queued").to("queued", STAYS).to("executing", "dequeue").to("failed", "cannot be done")
                .to("cancelled", "cancel");
        t.from("executing").to("executing", STAYS).to("awaiting_tool", "retry allowed, with backoff")
                .to("awaiting_user_confirmation", "a person decides").to("completed", "done")
                .to("failed", "attempts or failures exhausted").to("cancelled", "cancel");
        t.from("awaiting_tool").to("awaiting_tool", STAYS).to("executing", "next attempt")
                .to("failed", "attempts or failures exhausted").to("cancelled", "cancel");
        t.from("awaiting_user_confirmation").to("awaiting_user_confirmation", STAYS).to("executing", "confirmed")
                .to("failed", "rejected").to("cancelled", "cancel");
        t.from("completed").to("completed", STAYS);
        t.from("failed").to("failed", STAYS);
        t.from("cancelled").to("cancelled", STAYS);
        return t.build();
    }
}
