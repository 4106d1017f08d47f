package io.keelson.core.lifecycle;

import java.util.Locale;

/**
 * Types of events of a run (PRD-101, and further types of ours): one per edge of the lifecycles, and types without a
 * transition. {@code docs/reference/events.md} is generated from this table.
 */
public enum EventType {
    RUN_CREATED(ActorType.HUMAN, "a run is accepted"),
    RUN_QUEUED(ActorType.SYSTEM, "it is started, or its next attempt is due"),
    RUN_PLANNING_STARTED(ActorType.COORDINATOR, "its plan is laid out, or its planner is asked for one"),
    RUN_PLANNING_REFUSED(ActorType.COORDINATOR, "the planner's answer is no plan"),
    RUN_PLAN_READY(ActorType.COORDINATOR, "its plan is there"),
    RUN_APPROVED(ActorType.HUMAN, "its plan is approved, by a person or automatically"),
    RUN_REJECTED(ActorType.HUMAN, "a person rejects its plan"), RUN_STARTED(ActorType.SYSTEM, "its work begins"),
    RUN_PAUSED(ActorType.HUMAN, "it is paused"),
    RUN_RESUMING(ActorType.HUMAN, "it will continue after a pause or an escalation"),
    RUN_RESUMED(ActorType.SYSTEM, "its work is queued again"),
    RUN_BUDGET_WARNING(ActorType.SYSTEM, "its cost reaches the soft limit, once"),
    RUN_BUDGET_THRESHOLD(ActorType.SYSTEM,
            "its cost reaches 50, 80 or 100 % of the hard limit, each once for each limit"),
    RUN_DOWNGRADED(ActorType.HUMAN, "another model takes all further turns of its agents, from the inbox"),
    RUN_FINISHING(ActorType.HUMAN, "it ends at its limit with what runs now, from the inbox"),
    RUN_VERIFICATION_SHARE(ActorType.SYSTEM, "its attempt ends, and more than 30 % of its cost are verification"),
    RUN_BUDGET_EXCEEDED(ActorType.SYSTEM, "its limit stops it"),
    RUN_BUDGET_CHANGED(ActorType.HUMAN, "its limits are changed"),
    RUN_BUDGET_APPROVED(ActorType.HUMAN, "a person approved more spending after its limit stopped it"),
    RUN_BUDGET_INCREASED(ActorType.HUMAN, "its limit was raised after it stopped the run"),
    RUN_CREDITS_EXTENDED(ActorType.SYSTEM, "more credits are reserved for it"),
    RUN_ACCEPTANCE_REQUESTED(ActorType.SYSTEM, "a person is asked to accept its result"),
    RUN_ACCEPTED(ActorType.HUMAN, "a person accepts its result"),
    RUN_ESCALATED(ActorType.SYSTEM, "an escalation ticket holds it up"),
    RUN_REPLANNING(ActorType.COORDINATOR, "its planner is asked for a new plan"),
    RUN_REPLANNED(ActorType.COORDINATOR, "a new plan is in place"),
    RUN_REPLAN_FAILED(ActorType.COORDINATOR, "no new plan came of it"), RUN_COMPLETED(ActorType.SYSTEM, "it ends well"),
    RUN_SKIPPED(ActorType.SYSTEM, "it ends, and nothing of it was done"),
    RUN_FAILED(ActorType.SYSTEM, "it ends in failure"), RUN_CANCELLED(ActorType.HUMAN, "it is cancelled"),
    RUN_RETRYING(ActorType.HUMAN, "it gets another attempt"),
    RUN_UNDO_REQUESTED(ActorType.HUMAN, "its completed work is to be undone"),
    RUN_UNDO_STARTED(ActorType.SYSTEM, "the run that undoes it is created"),
    RUN_UNDO_REFUSED(ActorType.SYSTEM, "no run that undoes it could be created"),
    RUN_UNDO_ENDED(ActorType.SYSTEM, "the run that undoes it has ended, or there was nothing to undo"),
    AGENT_STARTED(ActorType.SYSTEM, "the agent's first task may begin"),
    AGENT_PAUSED(ActorType.SYSTEM, "its run was paused, escalated or stopped by its budget"),
    AGENT_RESUMED(ActorType.SYSTEM, "its run continues"), AGENT_RETRYING(ActorType.SYSTEM, "it starts over"),
    AGENT_COMPLETED(ActorType.SYSTEM,
            "its tasks have ended, and at least one completed; of the last agent, once the result is there and accepted"),
    AGENT_FAILED(ActorType.SYSTEM, "one of its tasks has failed for good, or its run fails while it is at work"),
    AGENT_SKIPPED(ActorType.SYSTEM, "all its tasks were skipped"),
    AGENT_CANCELLED(ActorType.SYSTEM, "it ends with its run, or its tasks were cancelled and none completed"),
    TASK_CREATED(ActorType.COORDINATOR, "a task is made from the plan"),
    TASK_CARRIED(ActorType.COORDINATOR, "a task takes over the output of an earlier attempt"),
    TASK_QUEUED(ActorType.SYSTEM, "its dependencies are met, or it is to be tried again"),
    TASK_ASSIGNED(ActorType.COORDINATOR, "it is assigned to an agent"),
    TASK_REQUEUED(ActorType.RECONCILER,
            "it was assigned and did not start in time, or its worker was lost and no other serves the tool"),
    TASK_STARTED(ActorType.AGENT, "work on it begins"),
    TASK_CONTINUING(ActorType.AGENT, "a turn has ended and the agent needs another"),
    TASK_RESUMED(ActorType.SYSTEM, "the next turn is dispatched"),
    TASK_ROUND_COMPLETED(ActorType.SYSTEM, "a round of its `repeat` has ended, and `until` was evaluated"),
    TASK_OUTPUT_SUBMITTED(ActorType.AGENT, "its output is handed in for verification"),
    TASK_VERIFICATION_STARTED(ActorType.VERIFIER, "a verifier begins"),
    TASK_VERIFICATION_PASSED(ActorType.VERIFIER, "the verifiers approve its output"),
    TASK_RUNG_REACHED(ActorType.COORDINATOR, "its retries are used up, and the next rung of the ladder is tried"),
    TASK_VERIFICATION_SKIPPED(ActorType.COORDINATOR, "a judge is not asked about its output"),
    TASK_VERIFICATION_FAILED(ActorType.VERIFIER, "a verifier rejects its output"),
    TASK_HUMAN_REVIEW_REQUESTED(ActorType.SYSTEM, "a person is asked about its output"),
    TASK_HUMAN_APPROVED(ActorType.HUMAN, "a person approves its output"),
    TASK_HUMAN_REJECTED(ActorType.HUMAN, "a person rejects its output"),
    TASK_RETRYING(ActorType.SYSTEM, "another attempt is scheduled after a failure"),
    TASK_RETRY_REQUESTED(ActorType.HUMAN, "its next attempt is to begin at once"),
    TASK_CRASHED(ActorType.SYSTEM, "an infrastructure failure ends its attempt"),
    TASK_COMPLETED(ActorType.AGENT, "its work is done and nothing is to be verified"),
    TASK_FAILED(ActorType.SYSTEM, "it has failed for good"),
    TASK_SKIPPED(ActorType.SYSTEM, "it is not needed, or its trigger rule can no longer hold"),
    TASK_CANCELLED(ActorType.SYSTEM, "it is cancelled, alone or with its run"),
    STEP_STARTED(ActorType.AGENT, "a worker begins a try of the step"),
    STEP_RECLAIMED(ActorType.AGENT, "a worker takes it over under a new lease epoch"),
    STEP_WAITING(ActorType.SYSTEM, "it waits for a time, a signal, a child run or a call of its program"),
    STEP_APPROVAL_REQUESTED(ActorType.SYSTEM, "a person is asked for an approval"),
    STEP_APPROVED(ActorType.HUMAN, "a person approves"), STEP_REJECTED(ActorType.HUMAN, "a person rejects"),
    STEP_COMPLETED(ActorType.AGENT, "its result is recorded, or what it waited for is there"),
    STEP_RESULT_AWAITED(ActorType.SYSTEM, "another step computes the same result, for which it waits"),
    STEP_RESULT_REUSED(ActorType.SYSTEM, "it takes over the result of another step, at no cost"),
    STEP_RETRYING(ActorType.AGENT, "a try has failed and another may follow"),
    STEP_RETRY_REQUESTED(ActorType.HUMAN, "its next try is to begin at once"),
    STEP_FAILED(ActorType.AGENT, "it has failed for good"),
    STEP_SKIPPED(ActorType.SYSTEM, "it is not needed or not allowed"),
    STEP_CANCELLED(ActorType.SYSTEM, "it ends with its task"),
    STEP_RELEASED(ActorType.AGENT,
            "its worker hands it back without a result, or its program has failed after a limit had refused a request"),
    STEP_DEFERRED(ActorType.AGENT, "its worker hands it back because a system that it needs is busy"),
    STEP_ANSWERED(ActorType.HUMAN, "a person answers the questions of its tool"),
    STEP_LEASE_EXPIRED(ActorType.RECONCILER, "its worker sent no heartbeat in time"),
    STEP_UNPRICED(ActorType.SYSTEM, "it used tokens of a model that has no price, and was charged nothing for them"),
    STEP_CHARGED(ActorType.AGENT,
            "its worker has reported in a heartbeat how much it has used since the report before, or a request of its "
                    + "program to a model was answered"),
    STEP_HOLD_EXCEEDED(ActorType.SYSTEM, "it cost more than the credits held for its worst case"),
    ESCALATION_OPENED(ActorType.SYSTEM, "a ticket is opened"),
    ESCALATION_REMINDED(ActorType.SYSTEM, "a ticket has no answer in time"),
    ESCALATION_RESOLVED(ActorType.HUMAN, "a ticket is answered, or void"),
    HUMAN_REMINDED(ActorType.SYSTEM, "a question has no decision in time"),
    APPROVAL_VOTED(ActorType.HUMAN, "a person approves, and others have to approve as well"),
    APPROVAL_VOTE_WITHDRAWN(ActorType.HUMAN, "a person takes such an approval back"),
    SIGNAL_RECEIVED(ActorType.HUMAN, "a signal is sent to the run"),
    PROPOSAL_CREATED(ActorType.AGENT, "a step proposes something to people"),
    PROPOSAL_ACCEPTED(ActorType.HUMAN, "a person accepts a proposal"),
    PROPOSAL_REJECTED(ActorType.HUMAN, "a person rejects a proposal"),
    PROPOSAL_WITHDRAWN(ActorType.SYSTEM, "a proposal is void, for its run was cancelled or begins again"),
    CHILD_RUN_STARTED(ActorType.SYSTEM, "a step starts another run"),
    CHILD_RUN_ALLOTTED(ActorType.HUMAN, "a run that it started may cost more"),
    CHILD_RUN_ENDED(ActorType.SYSTEM, "a run that it started has ended"),
    COUNTER_CORRECTED(ActorType.RECONCILER, "a counter of the run was wrong"),
    STALL_DETECTED(ActorType.RECONCILER, "a task is found that nothing moves"),
    MODEL_FALLBACK(ActorType.AGENT, "another model was used than the one that was asked for"),
    MODEL_ANSWER_LOST(ActorType.SYSTEM, "a request to a model was sent, and no answer to it was received"),
    COST_SNAPSHOT(ActorType.SYSTEM, "the cost of a run is summed up: at its end");

    private final ActorType by;
    private final String when;
    private final String wire = name().toLowerCase(Locale.ROOT);

    EventType(ActorType by, String when) {
        this.by = by;
        this.when = when;
    }

    /** The actor that decides; {@code HUMAN} for the caller of a request, which may be a service. */
    public ActorType by() {
        return by;
    }

    /** When it is written, in words. */
    public String when() {
        return when;
    }

    public String wire() {
        return wire;
    }
}
