package io.keelson.core.run;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Budget;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.Plan;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** All changes of a run. Each goes through {@code Decider} as one of these commands. */
public sealed interface Command {

    UUID runId();

    /** The actor that issues the command. */
    Actor actor();

    /** Accepts a checked run, and starts it at once if requested. */
    record Create(NewRun run, boolean start, Actor actor) implements Command {
        @Override
        public UUID runId() {
            return run.id();
        }
    }

    record Start(UUID runId, Actor actor) implements Command {}

    /** Admits the run under its concurrency key. Only the scheduler that has counted sends it. */
    record Admit(UUID runId, Actor actor) implements Command {}

    /**
     * Decides the plan gate if the run is at it, else the only open approval.
     *
     * @param edit the plan that replaces the waiting plan; null to approve the waiting plan
     */
    record Approve(UUID runId, @Nullable String comment, @Nullable Edit edit, Actor actor) implements Command {

        /**
         * A plan that a person changed.
         *
         * @param planned checked, in the version after the waiting plan
         * @param modifications the changes, a line for each task
         */
        public record Edit(Evaluation.Planned planned, List<String> modifications) {
            public Edit {
                modifications = List.copyOf(modifications);
            }
        }

        /** Approves without an edit. */
        public Approve(UUID runId, @Nullable String comment, Actor actor) {
            this(runId, comment, null, actor);
        }
    }

    record Reject(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    /**
     * An answer of a caller of the API. An approval of a question that requires several people counts as one person's vote,
     * and the last one decides. Any other answer is decided as without this command.
     *
     * @param digest SHA-256 of the approved content: people who approve different contents do not approve together
     * @param person false for a service and for a principal that several people may use
     */
    record Vote(Command decision, String digest, boolean person) implements Command {
        @Override
        public UUID runId() {
            return decision.runId();
        }

        @Override
        public Actor actor() {
            return decision.actor();
        }
    }

    /**
     * Takes the actor's vote back, before the question is decided.
     *
     * @param subject the run, task, step, ticket or proposal that the question is about
     */
    record WithdrawVote(UUID runId, UUID subject, Actor actor) implements Command {}

    /**
     * Decides a gate of the run itself, if the run waits at it.
     *
     * @param hardLimit maximum cost of all attempts together, in credits, when a budget is approved; null keeps it
     * @param tasks new budgets of tasks, in credits, by the tasks' ids in the plan, when a budget is approved
     * @param way how a run continues whose budget is approved without another limit
     * @param asked when the answered question was asked; null for the open question
     */
    record DecideGate(UUID runId, Gate gate, boolean approve, @Nullable BigDecimal hardLimit,
            Map<String, BigDecimal> tasks, Way way, @Nullable Instant asked, @Nullable String comment, Actor actor)
            implements Command {
        public DecideGate {
            tasks = Map.copyOf(tasks);
        }

        /** A decision about what waits at the gate, by which a run continues as before, if at all. */
        public DecideGate(UUID runId, Gate gate, boolean approve, @Nullable BigDecimal hardLimit,
                Map<String, BigDecimal> tasks, @Nullable String comment, Actor actor) {
            this(runId, gate, approve, hardLimit, tasks, Way.AS_BEFORE, null, comment, actor);
        }

        /**
         * How a run continues at its limit.
         *
         * @param model that takes all further turns of agents; null if each agent uses its own model
         * @param finishing whether the run ends once its running steps end
         */
        public record Way(@Nullable String model, boolean finishing) {
            public static final Way AS_BEFORE = new Way(null, false);
        }

        /** Gates of a whole run. */
        public enum Gate {
            /** {@code awaiting_approval}. */
            PLAN,
            /** All work is done, and a person accepts the result or not. */
            RESULT,
            /** {@code budget_exceeded}: it continues if the limit was raised, or fails. */
            BUDGET;

            /** The gate's name in messages. */
            public String noun() {
                return name().toLowerCase(Locale.ROOT);
            }
        }
    }

    /**
     * Decides one approval step, or a call of an agent that waits for a person.
     *
     * @param given JSON text: the input with which an approved call is made, or the answer to an agent's question; null if
     *              absent
     */
    record DecideStep(UUID runId, UUID stepId, boolean approve, @Nullable String comment, @Nullable String given,
            Actor actor) implements Command {

        /** A plain decision. */
        public DecideStep(UUID runId, UUID stepId, boolean approve, @Nullable String comment, Actor actor) {
            this(runId, stepId, approve, comment, null, actor);
        }
    }

    /**
     * Answers the questions of another server, for which a call of its tool waits.
     *
     * @param round counts the questions of the call, from 1
     * @param answers JSON text, by the names of the questions
     */
    record Answer(UUID runId, UUID stepId, int round, String answers, Actor actor) implements Command {}

    /**
     *
     * Decides a task that waits for a person.
     *
     * @param gate the task attempt that the decision is about; null for the waiting one
     */
    record DecideTask(UUID runId, UUID taskId, Choice choice, @Nullable Integer gate, @Nullable String comment,
            Actor actor) implements Command {

        /** A person's decision about an output. */
        public enum Choice {
            APPROVE, REJECT,
            /** Another attempt, with the comment as feedback. */
            RETRY
        }
    }

    /**
     * Answers a step's proposal, in any state of the run. Where an acceptance begins a new plan, it is refused whenever
     * {@link Replan} is.
     *
     * @param instructions for the planner, of a proposal that changes the plan; null for any other
     */
    record DecideProposal(UUID runId, UUID proposalId, boolean accept, @Nullable String comment,
            @Nullable String instructions, Actor actor) implements Command {}

    /**
     * Answers an escalation ticket.
     *
     * @param alike whether all open tickets of the run about the same failure get the answer: of the same tool, system and code
     */
    record Resolve(UUID runId, UUID ticketId, Resolution resolution, @Nullable String comment, boolean alike,
            Actor actor) implements Command {

        /** Answers only this ticket. */
        public Resolve(UUID runId, UUID ticketId, Resolution resolution, @Nullable String comment, Actor actor) {
            this(runId, ticketId, resolution, comment, false, actor);
        }
    }

    /** The possible answers to a ticket. */
    enum Resolution {
        /** Continue: its failures are forgiven. */
        RESUME,
        /** Continue without it. */
        SKIP, FAIL, CANCEL,
        /** A person has done the task of an undo by other means. */
        DONE;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }
    }

    /** A person ends a held-up run as failed. */
    record FailRun(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    /** A person requests a new plan. */
    record Replan(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    record CancelTask(UUID runId, UUID taskId, @Nullable String reason, Actor actor) implements Command {}

    /** The task's next attempt, or its current step's, begins now instead of after its backoff. */
    record RetryTask(UUID runId, UUID taskId, Actor actor) implements Command {}

    /** The run continues without the task. */
    record SkipTask(UUID runId, UUID taskId, @Nullable String reason, Actor actor) implements Command {}

    /** @param number of the agent, from 1 */
    record CancelAgent(UUID runId, int number, @Nullable String reason, Actor actor) implements Command {}

    record Pause(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    record Resume(UUID runId, Actor actor) implements Command {}

    /**
     * Changes a run's limits; a run that was stopped for its budget continues if they allow it.
     *
     * @param hardLimit maximum cost of all attempts together, in credits; null keeps it
     * @param softLimit credits at which people are warned; null keeps it
     * @param tasks new budgets of tasks, in credits, by the tasks' ids in the plan; the others keep theirs
     */
    record RaiseBudget(UUID runId, @Nullable BigDecimal hardLimit, @Nullable BigDecimal softLimit,
            Map<String, BigDecimal> tasks, Actor actor) implements Command {
        public RaiseBudget {
            tasks = Map.copyOf(tasks);
        }
    }

    /**
     * Raises the budget of a child run.
     *
     * @param childId the child run
     * @param amount the new budget in all, credits
     */
    record AddChildBudget(UUID runId, UUID childId, BigDecimal amount, Actor actor) implements Command {}

    /**
     * Informs a child of the budget that its parent has stored.
     *
     * @param amount credits in all
     */
    record ChildBudgetAdded(UUID runId, BigDecimal amount, Actor actor) implements Command {}

    record Cancel(UUID runId, @Nullable String reason, Actor actor) implements Command {}

    /**
     * Delivers a signal to a step of the run that waits for it, or will.
     *
     * @param payload JSON text
     * @param awaiting steps and tasks that may wait for the name, as the sender read them: the signal is refused if all
     *            have ended since; null if the run keeps a signal that nothing waits for
     */
    record SendSignal(UUID runId, UUID id, String name, String payload, @Nullable Awaiting awaiting, Actor actor)
            implements Command {
        /**
         * @param steps open signal steps
         * @param tasks ids in the plan of tasks whose steps do not exist yet
         */
        public record Awaiting(Set<UUID> steps, Set<String> tasks) {
            public Awaiting {
                steps = Set.copyOf(steps);
                tasks = Set.copyOf(tasks);
            }

            public boolean isEmpty() {
                return steps.isEmpty() && tasks.isEmpty();
            }
        }
    }

    /** A new attempt of a failed run; completed work is carried over unless {@code fromStart}. */
    record Retry(UUID runId, boolean fromStart, Actor actor) implements Command {}

    /**
     * The completed work of a run is to be undone: of an ended run, or after its end if the undo of its parent waits for it.
     *
     * @param waiter the run that undoes its parent and waits for the undo; null if absent
     */
    record Undo(UUID runId, @Nullable String reason, @Nullable UUID waiter, Actor actor) implements Command {

        /** No run waits for it. */
        public Undo(UUID runId, @Nullable String reason, Actor actor) {
            this(runId, reason, null, actor);
        }
    }

    /** A report that can be part of {@link CompleteChain}. */
    sealed interface Report extends Command {

        UUID stepId();

        int epoch();
    }

    /**
     * A worker or an executor claims the work of one lane of a task.
     *
     * @param chained see {@link NextStepRequest#chained}; empty for an executor
     * @param version of the worker; null for an executor
     */
    record Claim(UUID runId, UUID taskId, int lane, String holder, Duration lease, Set<String> chained,
            @Nullable String version, Actor actor) implements Command {
        public Claim {
            chained = Set.copyOf(chained);
        }

        public Claim(UUID runId, UUID taskId, int lane, String holder, Duration lease, Set<String> chained,
                Actor actor) {
            this(runId, taskId, lane, holder, lease, chained, null, actor);
        }

        public Claim(UUID runId, UUID taskId, int lane, String holder, Duration lease, Actor actor) {
            this(runId, taskId, lane, holder, lease, Set.of(), actor);
        }
    }

    /**
     * The lease holder reports a result.
     *
     * @param request the work that the holder asks to continue with; null if absent
     * @param lost answers of earlier executions that this one could not use
     */
    record Complete(UUID runId, UUID stepId, int epoch, Result result, @Nullable NextStepRequest request,
            List<LostAnswer> lost, Actor actor) implements Report {
        public Complete {
            lost = List.copyOf(lost);
        }

        public Complete(UUID runId, UUID stepId, int epoch, Result result, @Nullable NextStepRequest request,
                Actor actor) {
            this(runId, stepId, epoch, result, request, List.of(), actor);
        }

        public Complete(UUID runId, UUID stepId, int epoch, Result result, Actor actor) {
            this(runId, stepId, epoch, result, null, actor);
        }
    }

    /** The lease holder reports the result of a turn after which the task needs another turn. */
    record Continue(UUID runId, UUID stepId, int epoch, Result result, Actor actor) implements Command {}

    /**
     * The lease holder reports a failure; the cost of the try is charged, and its artifacts are kept.
     *
     * @param lost answers that the try was waiting for
     */
    record Fail(UUID runId, UUID stepId, int epoch, StepError error, Result spent, List<LostAnswer> lost, Actor actor)
            implements Report {
        public Fail {
            lost = List.copyOf(lost);
        }

        public Fail(UUID runId, UUID stepId, int epoch, StepError error, Result spent, Actor actor) {
            this(runId, stepId, epoch, error, spent, List.of(), actor);
        }
    }

    /**
     * The holder hands its lease back without a result; costs neither an attempt nor a delivery. After the refusal of a request of its program
     * the step waits until the limits pay it. If the step has ended under
     * that lease without a report, the holder's lost answers are named and nothing else changes.
     *
     * @param deferral why the step cannot be executed yet; null when it may be claimed at once
     * @param call the new wait of the step's call of another server; null if unchanged
     * @param lost answers that the holder was waiting for
     */
    record Release(UUID runId, UUID stepId, int epoch, @Nullable Deferral deferral, @Nullable CallWait call,
            List<LostAnswer> lost, Actor actor) implements Report {
        public Release {
            lost = List.copyOf(lost);
        }

        public Release(UUID runId, UUID stepId, int epoch, @Nullable Deferral deferral, List<LostAnswer> lost,
                Actor actor) {
            this(runId, stepId, epoch, deferral, null, lost, actor);
        }

        public Release(UUID runId, UUID stepId, int epoch, @Nullable Deferral deferral, Actor actor) {
            this(runId, stepId, epoch, deferral, List.of(), actor);
        }

        public Release(UUID runId, UUID stepId, int epoch, Actor actor) {
            this(runId, stepId, epoch, null, actor);
        }
    }

    /**
     * The holder reports consecutive steps of one lane together. The report of each step is decided as if it had come alone, in
     * their order, up to the first refused report. The reply is {@link Reply.Taken}.
     *
     * @param reports of consecutive steps; all but the last are {@link Complete}
     * @param yields whether the lane goes behind waiting work of others after the last report
     * @param held whether the actor must hold each step: the epoch that a holder expects of a following step may be another holder's
     */
    record CompleteChain(UUID runId, List<Report> reports, boolean yields, boolean held, Actor actor)
            implements Command {
        public CompleteChain(UUID runId, List<Report> reports, boolean yields, Actor actor) {
            this(runId, reports, yields, false, actor);
        }

        public CompleteChain {
            reports = List.copyOf(reports);
            if (reports.isEmpty() || !reports.subList(0, reports.size() - 1).stream()
                    .allMatch(report -> report instanceof Complete)) {
                throw new IllegalArgumentException(
                        "only the last step of a chain may end without completion");
            }
        }
    }

    /**
     * The holder stores where its call of another server is, before it continues. Of a call that must not be sent twice one execution
     * gets leave to send it.
     *
     * @param now null when nothing is known of the call any more: it may be sent as if for the first time
     */
    record TrackCall(UUID runId, UUID stepId, int epoch, @Nullable CallWait now, Actor actor) implements Command {}

    /**
     * The holder has computed the most that its next request to a model may cost. The step holds so much, or goes back until
     * its run's credits pay it. A worst case of the plan stays as it is.
     *
     * @param begun true after earlier requests of this execution, whose tokens are part of the worst case: the step does not go back
     */
    record Hold(UUID runId, UUID stepId, int epoch, WorstCase most, boolean begun, Actor actor) implements Command {}

    /**
     * The holder has used so much since the beginning of its lease. The rest since its last report is charged.
     *
     * @param used cumulative tokens, cost and model; its other members are not read
     */
    record Meter(UUID runId, UUID stepId, int epoch, Result used, Actor actor) implements Command {}

    /**
     * A program of the step is about to request a model. Its worst case is held beside all other holds, with less output where the
     * limits do not pay all. The reply is {@link Reply.Paid}.
     *
     * @param request id of the request
     * @param least tokens of output below which it is not sent
     * @param k1 digest of the request, by which it is found again
     * @param k2 digest after further rules
     * @param facts JSON text for the record
     * @param waits whether the holder repeats the command after other requests of the run; a refusal is not recorded then
     */
    record AskModel(UUID runId, UUID stepId, int epoch, UUID request, WorstCase most, long least, String k1, String k2,
            String facts, boolean waits, Actor actor) implements Command {}

    /**
     * A program of the step calls a tool. The call becomes a step of the kind {@code call} of the same task, which ends with the
     * calling step at the latest.
     *
     * @param call id of the new step: a command with a known id changes nothing
     */
    record CallTool(UUID runId, UUID stepId, int epoch, UUID call, TurnAnswer.Call made, Actor actor)
            implements Command {}

    /**
     * The program of the step waits for a call that waits for a person. The lease ends, and the step waits for the end of a call of its
     * program. Attempts and deliveries stay as they are.
     */
    record Park(UUID runId, UUID stepId, int epoch, Actor actor) implements Command {}

    /**
     * A request of a program has ended. Its answer is recorded with its charge, also after the end of the lease.
     *
     * @param used tokens and model; null if absent; a lost answer then has its worst case
     * @param answer JSON text; null if absent
     */
    record EndRequest(UUID runId, UUID stepId, UUID request, Outcome outcome, @Nullable Result used,
            @Nullable String answer, Actor actor) implements Command {

        /** The end of a request. */
        public enum Outcome {
            /** The answer is whole. */
            ANSWERED,
            /** The provider has billed nothing. */
            REFUSED,
            /** The provider may have billed an answer that no program gets. */
            LOST
        }
    }

    /**
     * The reconciler found the step's lease with this epoch expired. Later leases and other steps' leases in its lane
     * are not affected.
     *
     * @param lease its length: the time since the holder's last heartbeat
     * @param unserved whether no other worker that serves its tool has sent a request lately
     * @param lost answers that the holder was waiting for
     */
    record LeaseExpired(UUID runId, UUID stepId, int epoch, Duration lease, boolean unserved, List<LostAnswer> lost,
            Actor actor) implements Command {
        public LeaseExpired {
            lost = List.copyOf(lost);
        }

        public LeaseExpired(UUID runId, UUID stepId, int epoch, Duration lease, Actor actor) {
            this(runId, stepId, epoch, lease, false, List.of(), actor);
        }
    }

    /** The reconciler found the run running with no open task: repeats the check for its end. */
    record Settle(UUID runId, Actor actor) implements Command {}

    record TimerDue(UUID runId, TimerKind kind, UUID subject, Actor actor) implements Command {}

    /** The evaluator's answer to a decision's request. */
    record Evaluated(UUID runId, TimerKind kind, UUID subject, Evaluation evaluation, Actor actor) implements Command {}

    /** The results of evaluations. */
    sealed interface Evaluation {

        /**
         *
         * The gate is open.
         *
         * @param items JSON texts of a {@code for_each}, null when the task has none
         * @param generations effect generations of the children of earlier rows of the task, by the items' indexes or the
         *                    rounds' numbers; 1 for an absent one
         * @param titles of the items' tasks, as many as items; empty to use the group's title
         */
        record Proceed(@Nullable List<String> items, Map<Integer, Integer> generations, List<String> titles)
                implements Evaluation {

            /** Proceeds with a task without earlier children. */
            public Proceed(@Nullable List<String> items) {
                this(items, Map.of());
            }

            public Proceed(@Nullable List<String> items, Map<Integer, Integer> generations) {
                this(items, generations, List.of());
            }
        }

        /** {@code when} was false. */
        record Skip() implements Evaluation {}

        /**
         * Whether the condition holds for the input of an agent's call: then the call waits for a person.
         *
         * @param error why it could not be evaluated; null when it could
         */
        record Holds(boolean holds, @Nullable String error) implements Evaluation {}

        /** An approval or a wait with its input resolved; exactly one of the times is set for a wait. */
        record Opened(String input, @Nullable Duration delay, @Nullable Instant until) implements Evaluation {}

        /**
         * An approval that a person gave in an earlier attempt of the task, for the same input after the same outputs.
         *
         * @param output JSON text of the earlier step
         * @param attempt of the task in which the person approved; from 1
         */
        record Approved(String input, String output, String by, int attempt) implements Evaluation {}

        /**
         *
         * A wait for a signal with its input resolved.
         *
         * @param timeout maximum wait; null for as long as the run
         * @param continues true when the step then completes without a signal
         */
        record Awaits(String input, String name, @Nullable Duration timeout, boolean continues) implements Evaluation {}

        /**
         * A child run to start, its mission checked.
         *
         * @param budget maximum cost in credits; null for the parent's limit
         * @param abandon true when the child continues if its parent stops waiting
         * @param timeout maximum wait; null for as long as the parent may run
         */
        record Starts(String input, NewRun run, @Nullable BigDecimal budget, boolean abandon,
                @Nullable Duration timeout) implements Evaluation {}

        /**
         * The state of a child run.
         *
         * @param settled true when all its own children have ended
         * @param output JSON text; null if absent
         * @param tokens of the child and its children
         * @param charged credits of the child and its children; budgets of open children count
         * @param armed due time of the timer that requested this check; null if absent
         */
        record ChildIs(RunState state, boolean settled, @Nullable String output, long tokens, BigDecimal charged,
                @Nullable String error, @Nullable Instant armed) implements Evaluation {}

        /**
         * The state of the parent run.
         *
         * @param waits whether the step still waits for this run
         * @param version of the parent; an older one is ignored
         */
        record ParentIs(boolean waits, boolean paused, int version) implements Evaluation {}

        /**
         * The output of a task's round does not meet the condition that ends the rounds.
         *
         * @param generation effect generation of the next round of earlier rows of the task; 1 if absent
         */
        record Repeats(int generation) implements Evaluation {}

        /** JSON text of a task's or the run's output. */
        record Output(String json) implements Evaluation {}

        /**
         * A planner's new plan, checked: kept finished tasks of the old plan, and new tasks.
         *
         * @param json the plan's document to store
         * @param terms of a run's first plan; a later one follows the run's rules of replanning
         */
        record Planned(Plan plan, String json, Terms terms) implements Evaluation {

            /**
             * A plan's estimated cost, and when a person is asked.
             *
             * @param always true when a person is asked at any cost
             * @param threshold the estimate above which a person is asked; null if absent
             */
            public record Terms(boolean always, @Nullable BigDecimal threshold, Budget budget) {

                /** No person is asked. */
                public static final Terms FREE = new Terms(false, null, Budget.NONE);

                public boolean requiresApproval(BigDecimal estimate) {
                    return always || threshold != null && estimate.compareTo(threshold) > 0;
                }
            }

            /** An answer without terms. */
            public Planned(Plan plan, String json) {
                this(plan, json, Terms.FREE);
            }
        }

        /**
         * The run that undoes another.
         *
         * @param run null when there is nothing to undo
         */
        record Undoes(@Nullable NewRun run) implements Evaluation {}

        /**
         * The state of the run that undoes another.
         *
         * @param counts of its tasks
         * @param armed due time of the timer that requested this check; null if absent
         */
        record UndoIs(RunState state, UndoCounts counts, @Nullable Instant armed) implements Evaluation {}

        /**
         * The progress of the undo of a child run, for the undo of its parent.
         *
         * @param run the child run
         * @param state of its undo, as the API names it
         * @param undoRun the run that undoes it; null if absent
         * @param notUndone tasks of that run that are not undone
         * @param error code and text of the refusal; null if absent
         * @param armed due time of the timer that requested this check; null if absent
         */
        record ChildUndo(UUID run, String state, @Nullable UUID undoRun, int notUndone, @Nullable String error,
                @Nullable Instant armed) implements Evaluation {}

        /**
         * Tasks of an undo by their ends.
         *
         * @param undone tasks that completed
         * @param byHand tasks that a person has done by other means
         * @param notDone tasks whose original was not done, by a person's answer
         * @param notUndone all others
         */
        record UndoCounts(int undone, int byHand, int notDone, int notUndone) {
            public static final UndoCounts NONE = new UndoCounts(0, 0, 0, 0);
        }

        /**
         * The result of another step with the same key.
         *
         * @param output JSON text
         * @param source the step that computed it
         */
        record Reused(String output, SourceStep source) implements Evaluation {}

        /** Another step computes the result. */
        record ComputedBy(SourceStep source) implements Evaluation {}

        /** The step computes the result itself, for others as well. */
        record Computes() implements Evaluation {}

        record Broken(StepError error) implements Evaluation {}
    }
}
