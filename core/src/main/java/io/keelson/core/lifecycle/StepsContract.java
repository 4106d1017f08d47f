package io.keelson.core.lifecycle;

/**
 * State Machine: runs and steps. Its {@code attempts} is our {@code lease_epoch}. That a person rejects
 * ({@code WAITING_APPROVAL} to {@code FAILED}) is ours, as is that an agent's call is made after its approval
 * ({@code WAITING_APPROVAL} to {@code PENDING}); the document only approves. Ours is as well that a step is
 * answered from a record ({@code PENDING} to {@code SUCCEEDED}).
 */
final class StepsContract {

    private static final String NAME = "steps";

    private StepsContract() {}

    static Contract contract() {
        return new Contract(NAME, "State Machine", run(), null, step());
    }

    private static Projection<RunState> run() {
        ContractTable<RunState> t = new ContractTable<>(NAME, Lifecycles.RUN);
        t.state("PENDING", StateType.PENDING, RunState.CREATED, RunState.PENDING, RunState.RETRYING);
        t.state("RUNNING", StateType.RUNNING, RunState.PLANNING, RunState.READY, RunState.RUNNING, RunState.PAUSED,
                RunState.BUDGET_EXCEEDED, RunState.RESUMING);
        t.state("WAITING_APPROVAL", StateType.PAUSED, RunState.AWAITING_APPROVAL, RunState.ESCALATED);
        t.state("SUCCEEDED", StateType.TERMINAL, RunState.COMPLETED, RunState.SKIPPED);
        t.state("FAILED", StateType.TERMINAL, RunState.FAILED);
        t.state("CANCELED", StateType.TERMINAL, RunState.CANCELLED);
        t.names(Circumstance.WAITS_FOR_HUMAN, "WAITING_APPROVAL", RunState.RUNNING);

        t.from("PENDING").to("RUNNING", "a worker claims its first step").to("CANCELED", "cancel");
        t.from("RUNNING").to("WAITING_APPROVAL", "an approval is reached").to("SUCCEEDED", "all steps succeeded")
                .to("FAILED", "a step failed for good").to("CANCELED", "cancel");
        t.from("WAITING_APPROVAL").to("RUNNING", "approve").to("SUCCEEDED", "the last approval is given")
                .to("FAILED", "a failure after the approval").to("CANCELED", "cancel");
        return t.build();
    }

    private static Projection<StepState> step() {
        ContractTable<StepState> t = new ContractTable<>(NAME, Lifecycles.STEP);
        t.state("PENDING", StateType.PENDING, StepState.PENDING, StepState.AWAITING_RETRY);
        t.state("RUNNING", StateType.RUNNING, StepState.RUNNING, StepState.WAITING);
        t.state("WAITING_APPROVAL", StateType.PAUSED, StepState.WAITING_APPROVAL);
        t.state("SUCCEEDED", StateType.TERMINAL, StepState.COMPLETED);
        t.state("FAILED", StateType.TERMINAL, StepState.FAILED);
        t.state("CANCELED", StateType.TERMINAL, StepState.CANCELLED, StepState.SKIPPED);

        t.from("PENDING").to("RUNNING", "claimed").to("WAITING_APPROVAL", "an approval's turn has come")
                .to("SUCCEEDED", "answered from a record").to("CANCELED", "the run is cancelled");
        t.from("RUNNING").to("SUCCEEDED", "success").to("PENDING", "failed, attempts remain")
                .to("FAILED", "attempts exhausted").to("CANCELED", "the run is cancelled")
                .to("RUNNING", "stale, claimed again");
        t.from("WAITING_APPROVAL").to("SUCCEEDED", "approve").to("FAILED", "reject")
                .to("PENDING", "approve an agent's call")
                .to("CANCELED", "the run is cancelled");
        return t.build();
    }
}
