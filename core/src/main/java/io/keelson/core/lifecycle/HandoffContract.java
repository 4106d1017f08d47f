package io.keelson.core.lifecycle;

/** Run states of the Run Orchestrator Specification. A failed run continues as the same run. */
final class HandoffContract {

    private static final String NAME = "handoff";

    private HandoffContract() {}

    static Contract contract() {
        return new Contract(NAME, "Run Orchestrator Specification", run(), null, null);
    }

    private static Projection<RunState> run() {
        ContractTable<RunState> t = new ContractTable<>(NAME, Lifecycles.RUN);
        t.state("CREATED", StateType.PENDING, RunState.CREATED);
        t.state("PENDING", StateType.PENDING, RunState.PENDING, RunState.PLANNING, RunState.AWAITING_APPROVAL,
                RunState.READY);
        t.state("RUNNING", StateType.RUNNING, RunState.RUNNING);
        t.state("PAUSED", StateType.PAUSED, RunState.PAUSED, RunState.BUDGET_EXCEEDED, RunState.ESCALATED);
        t.state("RESUMING", StateType.RUNNING, RunState.RESUMING);
        t.state("COMPLETED", StateType.TERMINAL, RunState.COMPLETED, RunState.SKIPPED);
        t.state("FAILED", StateType.TERMINAL, RunState.FAILED);
        t.state("CANCELLED", StateType.TERMINAL, RunState.CANCELLED);
        t.state("RETRYING", StateType.PENDING, RunState.RETRYING);

        t.from("CREATED").to("PENDING", "start").to("CANCELLED", "cancel");
        t.from("PENDING").to("RUNNING", "a worker picks it up").to("CANCELLED", "cancel")
                .to("FAILED", "not picked up in time");
        t.from("RUNNING").to("COMPLETED", "all agents completed")
                .to("FAILED", "a failure that is not retried, or time is up").to("PAUSED", "pause")
                .to("CANCELLED", "cancel");
        t.from("PAUSED").to("RESUMING", "resume").to("CANCELLED", "cancel, or paused for too long");
        t.from("RESUMING").to("RUNNING", "agents are queued again").to("FAILED", "not queued in time");
        t.from("FAILED").to("RETRYING", "retry, while attempts are left");
        t.from("RETRYING").to("PENDING", "a worker picks it up").to("FAILED", "not picked up in time");
        return t.build();
    }
}
