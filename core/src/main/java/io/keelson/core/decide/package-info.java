/**
 * The rules: {@code Decider} applies one command to a {@code RunView} and returns a reply and a {@code ChangeSet}. No
 * I/O, clock, random or threads.
 *
 * <p>Layers, from the top. A class calls classes of its own layer and of layers below, and none above;
 * {@code LayersTest} reads this list.
 * <ol>
 * <li>The entries: Decider, Explain.
 * <li>Commands and timers: Steps, Signals, ChildRuns, ChildUndos, EvaluatorAnswers, ResultReuse, HumanGates, HumanTimeouts, TicketAnswers,
 * ProposalAnswers, UndoAnswers, ManualActions, RunBudget, RunCreation, DeferredStart, TimeoutMonitor, CounterAudit.
 * <li>A step's end and its task: AgentTurns, ProgramCalls, AgentMistakes, StepFailures, TaskProgress, Verdicts, TaskFailures, Ladder,
 * Resumption.
 * <li>A task's end, its agent and its run: Propagation, PlanAnswers, Planning, Rounds, Completion.
 * <li>Attempts, requests for plans, the run's end: AttemptRestarts, FirstPlan, Replanning, RunEnd.
 * <li>Rows and transitions of one task, tickets, and dispatch as a whole: PlanRows, TaskMoves, Tickets, LimitStop,
 * Pauses, LostAnswers, Metering, Requests, CallWaits.
 * <li>Dispatch and money: SlotScheduling, Chains, Credits, HardLimit, Holds, Thresholds, TaskBudgets,
 * ChildBudgets, RetryModels, Versions, Votes.
 * <li>The decision in progress: Decision, EventPayloads, ChildLinks, Proposals, Undoing, RunActions.
 * <li>Questions to a view: Deadline, CountedTime, IgnoredFailure, Purposes, Alike, Questions.
 * <li>Data: Created, ChangeSet, RunView, CompletionCounters, RunRow, AgentRow, TaskRow, StepRow, TicketRow, Question, ChildRow,
 * ParentRow, UndoRow, TaskBudgetRow, VoteRow, SystemTasks, CallWindow, CallRow, Hold, LaneLease, Metered, OpenRequest, LocalCapacity, Rungs,
 * StoredField.
 * </ol>
 *
 * <p>A command passes them once. A reported failure: {@code Steps.fail} refuses a late report, records the result and
 * charges its cost; {@code StepFailures} asks the policy and fails the step; {@code TaskFailures} does the same for its
 * task; {@code Propagation} fails the task and decides on its agent and the run; {@code Completion} counts the ended
 * tasks, judges their downstream tasks, and ends agents; {@code RunEnd} ends the run. What a lower layer leaves to an
 * upper one is a field of {@code Decision}, which {@code Decider} handles after the command: a failed planner, work
 * that a limit has held back.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A view may change only together with the run's version, timers included: {@code Decision.arm} and
 * {@code disarm} touch the run. Otherwise other nodes continue with stale timers.
 * <li>The lease epoch identifies a late report: the first worker froze, its lease expired, a second worker claimed
 * the step. Never compare holders or times instead.
 * <li>A lost lease raises the epoch only. A reported failure raises the attempt at the next claim. A rejection
 * raises the task's effect generation immediately, and any row that repeats the task starts with it.
 * <li>Pausing a run does not change its tasks' states: dispatch checks the run. Work in flight may finish and is
 * recorded.
 * <li>Work that a hard limit holds back keeps its state: a step is not opened, a task stays in its agent's queue.
 * {@code LimitStop.after} checks it again when nothing of the run is queued or held, and only then stops the run.
 * <li>A run never writes another run's rows. {@code ChildLinks} arms a timer of the other run, whose view does not
 * know that timer; the evaluator reads the state and submits it as a command. Only a child's creation is one commit
 * with its parent's step. A child's budget is decided in its parent's view and written there first
 * ({@code ChildBudgets}).
 * <li>Signals are deduplicated by id in the view, because a commit whose reply was lost is decided again.
 * <li>A task's output is its template's, otherwise its last step's. A verifying step never counts.
 * <li>An agent's turns and calls are steps of one position, ordered by {@code turn}. Calls that run side by side have a
 * lane each; a turn has lane 0, so no lease passes from one of them to the next turn. Steps of an earlier attempt of
 * the task are in neither the view nor the transcript, but for ended turns and calls that a retry keeps
 * ({@code PlanRows.keepTurns}): they belong to the new attempt then.
 * <li>Calls of a step's program ({@code StepRow.calls}) are steps of its position and of lanes of their own. They begin at
 * once, end with their caller at the latest, and hold up no later step.
 * <li>A round of a {@code repeat} is a child of its task, of which the view has the last few ended ones. The task's own cost
 * and tokens are the sum over all its ended rounds.
 * <li>An undo is a run of its own, which one commit creates together with its row in the original's view. Its open tickets
 * do not hold it up while its other tasks have not ended ({@code Undoing.othersContinue}).
 * <li>Votes of a question that has ended or changed are deleted after each command ({@code Votes.forget}), so handlers know nothing
 * of them.
 * <li>Rows that a new attempt or a new plan has replaced are {@code superseded}: kept in the database, not in the
 * view.
 * </ul>
 */
@NullMarked
package io.keelson.core.decide;

import org.jspecify.annotations.NullMarked;
