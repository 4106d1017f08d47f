package io.keelson.core.lifecycle;

/**
 * Run Lifecycle: the states of the status document. A cancelled run is {@code failed} there, with the error
 * {@code RUN_CANCELLED}. A run is {@code queued} until the first step of its plan begins, also while it is planned,
 * approved or paused before.
 */
final class LifecycleContract {

    private static final String NAME = "lifecycle";

    private LifecycleContract() {}

    static Contract contract() {
        return new Contract(NAME, "Run Lifecycle", run(), null, null);
    }

    private static Projection<RunState> run() {
        ContractTable<RunState> t = new ContractTable<>(NAME, Lifecycles.RUN);
        t.state("requested", StateType.PENDING, RunState.CREATED, RunState.RETRYING);
        t.state("queued", StateType.PENDING, RunState.PENDING, RunState.PLANNING, RunState.AWAITING_APPROVAL,
                RunState.READY);
        t.state("running", StateType.RUNNING, RunState.RUNNING, RunState.PAUSED, RunState.BUDGET_EXCEEDED,
                RunState.ESCALATED, RunState.RESUMING);
        t.state("completed", StateType.TERMINAL, RunState.COMPLETED, RunState.SKIPPED);
        t.state("failed", StateType.TERMINAL, RunState.FAILED, RunState.CANCELLED);

        t.names(Circumstance.NOT_BEGUN, "queued", RunState.PAUSED, RunState.BUDGET_EXCEEDED, RunState.RESUMING);

        t.from("requested").to("queued", "accepted");
        t.from("queued").to("running", "a slot is free");
        t.from("running").to("running", "a step is done").to("completed", "the last step is done")
                .to("failed", "critical error, retries exhausted, or time is up");
        return t.build();
    }
}
