package io.keelson.core.run;

import io.keelson.core.decide.Decider;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.Plan;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** All that can happen to a run. Whatever changes one goes through {@link Decider} as one of these. */
public sealed interface Command {

    UUID runId();

    /** Who asks. */
    Actor actor();

    /** Accepts a checked run, and starts it at once when asked to. */
    record Create(NewRun run, boolean start, Actor actor) implements Command {
        @Override
        public UUID runId() {
            return run.id();
        }
    }

    record Start(UUID runId, Actor actor) implements Command {}

    /** There is room for the run under its concurrency key. Only whoever has counted says so. */
    record Admit(UUID runId, Actor actor) implements Command {}

    /** Decides the plan gate if the run is at it, else the only approval that waits. */
    record Approve(UUID runId, @Nullable String comment, Actor actor) implements Command {}

    record Reject(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    /**
     * Decides what the run itself waits for, if that is what it waits for.
     *
     * @param hardLimit credits that all attempts may cost together, where its budget is approved; null leaves it as it is
     */
    record DecideGate(UUID runId, Gate gate, boolean approve, @Nullable BigDecimal hardLimit,
            @Nullable String comment, Actor actor) implements Command {

        /** What a run as a whole may wait for. */
        public enum Gate {
            /** {@code awaiting_approval}. */
            PLAN,
            /** All is done, and a human accepts it or not. */
            RESULT,
            /** {@code budget_exceeded}: it goes on where there is room again, or fails. */
            BUDGET
        }
    }

    /** Decides one approval step. */
    record DecideStep(UUID runId, UUID stepId, boolean approve, @Nullable String comment, Actor actor)
            implements Command {}

    /**
     * Decides a task that waits for a human.
     *
     * @param gate the task attempt that the decision is about; null for whichever waits
     */
    record DecideTask(UUID runId, UUID taskId, Choice choice, @Nullable Integer gate, @Nullable String comment,
            Actor actor) implements Command {

        /** What a human says of an output. */
        public enum Choice {
            APPROVE, REJECT,
            /** Another attempt, with the comment as feedback. */
            RETRY
        }
    }

    /** Answers what a step has proposed, whatever state the run is in by now. */
    record DecideProposal(UUID runId, UUID proposalId, boolean accept, @Nullable String comment, Actor actor)
            implements Command {}

    /** Answers an escalation ticket. */
    record Resolve(UUID runId, UUID ticketId, Resolution resolution, @Nullable String comment, Actor actor)
            implements Command {}

    /** What can be done about what a ticket is about. */
    enum Resolution {
        /** Go on: its failures are forgiven. */
        RESUME,
        /** Go on without it. */
        SKIP, FAIL, CANCEL;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }
    }

    /** A human ends a run as failed that is held up. */
    record FailRun(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    /** A human asks for a new plan. */
    record Replan(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    record CancelTask(UUID runId, UUID taskId, @Nullable String reason, Actor actor) implements Command {}

    /** The task's next attempt, or its current step's, begins now instead of after its backoff. */
    record RetryTask(UUID runId, UUID taskId, Actor actor) implements Command {}

    /** The run goes on without the task. */
    record SkipTask(UUID runId, UUID taskId, @Nullable String reason, Actor actor) implements Command {}

    /** @param number of the agent, from 1 */
    record CancelAgent(UUID runId, int number, @Nullable String reason, Actor actor) implements Command {}

    record Pause(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    record Resume(UUID runId, Actor actor) implements Command {}

    /**
     * Other limits for a run; where it was stopped for its budget, it goes on if they leave room.
     *
     * @param hardLimit credits that all attempts may cost together; null leaves it as it is
     * @param softLimit credits from which on people are warned; null leaves it as it is
     */
    record RaiseBudget(UUID runId, @Nullable BigDecimal hardLimit, @Nullable BigDecimal softLimit, Actor actor)
            implements Command {}

    /**
     * A run that this one has started is to cost more than it was allotted.
     *
     * @param childId the run that was started
     * @param amount credits that it is to be allotted in all
     */
    record AddChildBudget(UUID runId, UUID childId, BigDecimal amount, Actor actor) implements Command {}

    /**
     * What the run that started this one has allotted it, and has written down.
     *
     * @param amount credits in all
     */
    record ChildBudgetAdded(UUID runId, BigDecimal amount, Actor actor) implements Command {}

    record Cancel(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    /**
     * Somebody tells the run something that a step of it waits for, or will.
     *
     * @param payload JSON text
     */
    record SendSignal(UUID runId, UUID id, String name, String payload, Actor actor) implements Command {}

    /** A new attempt of a failed run; what completed is carried over unless {@code fromStart}. */
    record Retry(UUID runId, boolean fromStart, Actor actor) implements Command {}

    /** A worker or an executor asks for the work of one lane of a task. */
    record Claim(UUID runId, UUID taskId, int lane, String holder, Duration lease, Actor actor) implements Command {}

    /** @param request what the holder wants to go on with; null for nothing */
    record Complete(UUID runId, UUID stepId, int epoch, Result result, @Nullable NextStepRequest request, Actor actor)
            implements Command {
        public Complete(UUID runId, UUID stepId, int epoch, Result result, Actor actor) {
            this(runId, stepId, epoch, result, null, actor);
        }
    }

    /** As {@link Complete}, but the task needs another turn. */
    record Continue(UUID runId, UUID stepId, int epoch, Result result, Actor actor) implements Command {}

    /** Reported by whoever holds the lease; what the try cost is charged all the same. */
    record Fail(UUID runId, UUID stepId, int epoch, StepError error, Result spent, Actor actor) implements Command {}

    /** The holder hands its lease back without a result; costs neither an attempt nor a delivery. */
    record Release(UUID runId, UUID stepId, int epoch, Actor actor) implements Command {}

    /**
     * The reconciler found the time of the lease with this epoch over; it is nothing to a later one.
     *
     * @param lease its length: its holder was last heard of that long ago
     */
    record LeaseExpired(UUID runId, UUID taskId, int lane, int epoch, Duration lease, Actor actor)
            implements Command {}

    /** The reconciler found the run running with no open task: what its end waits for is looked at again. */
    record Settle(UUID runId, Actor actor) implements Command {}

    record TimerDue(UUID runId, TimerKind kind, UUID subject, Actor actor) implements Command {}

    /** The evaluator's answer for what a decision had asked to be evaluated. */
    record Evaluated(UUID runId, TimerKind kind, UUID subject, Evaluation evaluation, Actor actor) implements Command {}

    /** What an evaluation came to. */
    sealed interface Evaluation {

        /**
         * The gate is open.
         *
         * @param items JSON texts of a {@code for_each}, null when the task has none
         * @param generations effect generations of what earlier rows of the task have fanned out into, by the items'
         *     indexes; 1 for an index that it does not have
         * @param titles of the items' tasks, as many as there are items; empty where the group's title is theirs
         */
        record Proceed(@Nullable List<String> items, Map<Integer, Integer> generations, List<String> titles)
                implements Evaluation {

            /** Of a task that has fanned out into nothing so far. */
            public Proceed(@Nullable List<String> items) {
                this(items, Map.of());
            }

            public Proceed(@Nullable List<String> items, Map<Integer, Integer> generations) {
                this(items, generations, List.of());
            }
        }

        /** {@code when} was false. */
        record Skip() implements Evaluation {}

        /** An approval or a wait with its input resolved; exactly one of the times is set for a wait. */
        record Opened(String input, @Nullable Duration delay, @Nullable Instant until) implements Evaluation {}

        /**
         * A wait for a signal with its input resolved.
         *
         * @param timeout how long it waits; null for as long as the run does
         * @param goesOn true when it then completes without one
         */
        record Awaits(String input, String name, @Nullable Duration timeout, boolean goesOn) implements Evaluation {}

        /**
         * A run to be started, its mission checked.
         *
         * @param budget credits that it may cost at most; null for whatever its parent may
         * @param abandon true when it goes on should its parent not wait for it any more
         * @param timeout how long it is waited for; null for as long as its parent may run
         */
        record Starts(String input, NewRun run, @Nullable BigDecimal budget, boolean abandon,
                @Nullable Duration timeout) implements Evaluation {}

        /**
         * How a child run is.
         *
         * @param settled true when all that it has started has ended
         * @param output JSON text; null for none
         * @param tokens of it and of those that it has started
         * @param charged credits, likewise; what those may still cost that have not ended counts
         * @param armed for when the timer was armed that has it looked at; null for not at all
         */
        record ChildIs(RunState state, boolean settled, @Nullable String output, long tokens, BigDecimal charged,
                @Nullable String error, @Nullable Instant armed) implements Evaluation {}

        /**
         * How the run is that started this one.
         *
         * @param waits whether the step still waits for this run
         * @param version of the parent: what is older says nothing
         */
        record ParentIs(boolean waits, boolean paused, int version) implements Evaluation {}

        /** JSON text of a task's or the run's output. */
        record Output(String json) implements Evaluation {}

        /**
         * A planner's new plan, checked: finished tasks of the old one that are to stay, and new ones.
         *
         * @param json the plan's document as it is to be stored
         * @param terms of a run's first plan; a later one goes by the run's rules of re-planning
         */
        record Planned(Plan plan, String json, Terms terms) implements Evaluation {

            /**
             * What a plan is thought to cost, and when a human is asked.
             *
             * @param always true when a human is asked whatever it costs
             * @param threshold above which estimate a human is asked; null for nowhere
             */
            public record Terms(boolean always, @Nullable BigDecimal threshold, Budget budget) {

                /** Nobody is asked. */
                public static final Terms FREE = new Terms(false, null, Budget.NONE);

                public boolean asks(BigDecimal estimate) {
                    return always || threshold != null && estimate.compareTo(threshold) > 0;
                }
            }

            /** Without any terms. */
            public Planned(Plan plan, String json) {
                this(plan, json, Terms.FREE);
            }
        }

        record Broken(StepError error) implements Evaluation {}
    }
}
