package io.keelson.core.mutants;

import java.util.List;
import java.util.stream.Stream;

/** All that are planted. Each must be found out by a law; one that is not shows a law that is missing. */
final class Mutants {
    private static final String STEPS = "decide/Steps.java";
    private static final String TURNS = "decide/AgentTurns.java";
    private static final String LANES = "decide/SlotScheduling.java";
    private static final String ENDINGS = "decide/Completion.java";
    private static final String TASKS = "decide/TaskMoves.java";
    private static final String RESUMPTION = "decide/Resumption.java";
    private static final String GATES = "decide/HumanGates.java";
    private static final String CREDITS = "decide/Credits.java";
    private static final String CALLS = "decide/CallWaits.java";
    private static final String PROGRAMS = "decide/ProgramCalls.java";
    private static final String LOST = "decide/LostAnswers.java";
    private static final String HARD_LIMIT = "decide/HardLimit.java";
    private static final String ROUNDS = "decide/Rounds.java";

    private Mutants() {}

    static List<Mutant> all() {
        return Stream
                .of(leases(), turns(), calls(), dispatch(), endings(), gates(), levels(), credits(), views(), time(),
                        rounds(), UndoMutants.all(), AnswerMutants.all())
                .flatMap(List::stream).toList();
    }

    private static List<Mutant> leases() {
        return List.of(
                new Mutant(STEPS, "if (step.leaseEpoch != epoch || !step.isHeld()", "if (!step.isHeld()",
                        "a report under an old epoch is accepted").foundBy(24),
                new Mutant(STEPS, "if (epoch > 0 && step.resultEpoch == epoch) { return new Reply.Duplicate(null); }",
                        "if (epoch > 0 && step.resultEpoch == epoch) { return null; }",
                        "a second result for the same lease is accepted"),
                new Mutant(STEPS, "if (step == null || !step.isHeld() || step.leaseEpoch != command.epoch()) {",
                        "if (step == null || !step.isHeld()) {", "an earlier expiry ends a later lease").foundBy(7),
                new Mutant(LANES, "step.leaseEpoch++;", "step.leaseEpoch = Math.max(1, step.leaseEpoch);",
                        "a reclaimed step keeps its epoch"),
                new Mutant(LANES, "if (!again) { step.attempt++;", "step.attempt++; if (!again) {",
                        "a lost lease counts as an attempt"),
                new Mutant(STEPS, "step.deliveries >= d.run.policy().maxDeliveries()", "step.deliveries > 1_000",
                        "a poison step is delivered forever").foundBy(6),
                new Mutant(STEPS,
                        "step.deliveries -= refusal == null ? 1 : 0; d.changes.touch(step); if (deferral == null) {",
                        "d.changes.touch(step); if (deferral == null) {", "a released lease counts as a delivery"),
                new Mutant(STEPS, "if (step.atMostOnce()) {", "if (task.superseded) {",
                        "a call with an unknown outcome is made again").foundBy(230),
                new Mutant(STEPS, "d.arm(TimerKind.STEP_RETRY, step.id(), step.nextRunAt);", "",
                        "a deferred step is never claimed again").foundBy(22),
                new Mutant(STEPS, "!deferrable(d, step, deferral).isPositive()",
                        "deferrable(d, step, deferral).compareTo(Duration.ofMinutes(9)) < 0",
                        "a person is asked while a busy system may still answer"),
                new Mutant("decide/CallWindow.java", "bucket.systems.stream()).distinct().count()",
                        "bucket.systems.stream()).count()", "one system out of order is many errors of its run")
                        .foundBy(1269),
                new Mutant("policy/FailurePolicy.java", "facts.attempts >= policy.maxAttempts()",
                        "facts.attempts > policy.maxAttempts()",
                        "one attempt too many").foundBy(3),
                new Mutant(CREDITS, "d.run.tokens = d.run.tokens.plus(result.tokens());",
                        "d.run.tokens = d.run.tokens.plus(result.tokens()).plus(result.tokens());",
                        "tokens are counted twice"),
                new Mutant("decide/Decider.java", "return new Reply.Taken(taken, reply);",
                        "return new Reply.Taken(java.util.Collections.nCopies(chain.reports().size(), Reply.CHANGED));",
                        "refused reports of a chain are answered as taken").foundBy(27),
                new Mutant(LANES, "&& !d.changes.hasPut(first)) {", ") {",
                        "a step that outlasts the first commit of its run has no lease").foundBy(71));
    }

    private static List<Mutant> time() {
        return List.of(new Mutant("run/EngineOutage.java", "alive = alive.minus(Duration.between(start, end));", "",
                "time without any node counts for timeouts").foundBy(13));
    }

    private static List<Mutant> turns() {
        return List.of(
                new Mutant("decide/AttemptRestarts.java", "if (keepsTurns(d, task)) {", "if (task.superseded) {",
                        "an infrastructure failure repeats an agent's turns").foundBy(15),
                new Mutant(TURNS, "if (level == null) {", "if (!tool.isEmpty()) {",
                        "an agent calls a tool it may not call"),
                new Mutant("plan/AgentTerms.java", "&& !(tool.equals(DELEGATE) && CONTRACTOR.equals(type));", ";",
                        "a contractor delegates a task").foundBy(17),
                new Mutant("policy/CallApproval.java", "effects == Effects.DESTRUCTIVE ?", "effects == Effects.ONCE ?",
                        "a destructive call is made without a person").foundBy(31),
                new Mutant("decide/EvaluatorAnswers.java", "} else if (!answer.holds()) {",
                        "} else {", "a call is made although its condition asks for a person").foundBy(191),
                new Mutant("decide/EvaluatorAnswers.java", "call.gate = gate.failed(answer.error());",
                        "call.gate = gate.open();", "a condition that cannot be evaluated asks no person").foundBy(91),
                new Mutant(LANES, "if (step.asks()) { gate(d, step); return; }", "",
                        "a call that waits for a person is handed out").foundBy(31),
                new Mutant(TURNS, "return had < furtherTurns(d, task);", "return had <= furtherTurns(d, task);",
                        "one turn too many"),
                new Mutant(TURNS, "addTurn(d, task, at, turn, ++ordinal);", "",
                        "no turn sees the results of calls"),
                new Mutant(TURNS, "return content + (before + 1);", "return content + 1;",
                        "two equal calls of an agent have one effect key"),
                new Mutant(TURNS, "call.tool() + \":\" + call.digest() + \"/\"", "call.tool() + \"/\"",
                        "another call has the effect key of a call").foundBy(2));
    }

    /** The simulations whose numbers leave 5 after a division by 7 have calls of other servers. */
    private static List<Mutant> calls() {
        return List.of(
                new Mutant(PROGRAMS, "while (taken.contains(lane)) {", "while (taken.size() > 99) {",
                        "two calls of a program have one lane").foundBy(58),
                new Mutant("decide/Requests.java", "if (!call.state.terminal()) {", "if (call.isHeld()) {",
                        "a call of a program is open longer than its step").foundBy(26),
                new Mutant("decide/Decision.java", "caller.nextRunAt = now;", "caller.nextRunAt = null;",
                        "a step whose program waited is not claimed again").foundBy(58),
                new Mutant(CALLS, "return known.state() == State.ANSWERED ? null : command.deferral();",
                        "return command.deferral();", "an answer during an execution wakes no step").foundBy(229),
                new Mutant(CALLS, "d.disarm(TimerKind.STEP_RETRY, step.id()); SlotScheduling.open(d, step, null);", "",
                        "an answered step waits on").foundBy(12),
                new Mutant(CALLS, "|| call.rounds() != command.round()", "", "an answer goes to another question")
                        .foundBy(138),
                new Mutant(CALLS, "call.state() != State.ASKED", "call.state() == State.SENT",
                        "a question is answered twice").foundBy(12),
                new Mutant(CALLS, "case SENT -> to == null || to == State.ANSWERED;", "case SENT -> true;",
                        "a call is sent again though its outcome is unknown").foundBy(12),
                new Mutant("decide/Decision.java", "step.call = to.terminal() ? null : step.call;", "",
                        "a call outlives its step").foundBy(12));
    }

    private static List<Mutant> dispatch() {
        return List.of(
                new Mutant(LANES, "step.evaluating || !d.atWork()) {", "step.evaluating) {",
                        "a paused run still dispatches steps"),
                new Mutant("decide/Pauses.java", "SlotScheduling.withdraw(d);", "",
                        "queued steps stay claimable in a pause").foundBy(3),
                new Mutant(LANES, "lanes(d.run, task) - busy, 0,", "lanes(d.run, task), 0,",
                        "parallel steps have no limit").foundBy(6),
                new Mutant(LANES, "d.view.agentsAtWork >= d.run.policy().maxAgents()",
                        "d.view.agentsAtWork > d.run.policy().maxAgents()", "one agent too many at work").foundBy(4),
                new Mutant(LANES, "d.view.leaveSlot(task); fill(d, task.agent());",
                        "task.hasSlot = false; fill(d, task.agent());", "a slot is not released"),
                new Mutant("decide/RunView.java", "if (--task.agent().slotsTaken == 0) {",
                        "if (--task.agent().slotsTaken == 0 && (run.state == io.keelson.core.lifecycle.RunState.RUNNING || task.agent().ready.isEmpty())) {",
                        "an agent that ends a task in a pause keeps its slot for the next").foundBy(15),
                new Mutant(LANES, "step.queued = false; step.holder = null;", "step.queued = false;",
                        "a worker that lost its lease still holds the step"));
    }

    private static List<Mutant> endings() {
        return List.of(
                new Mutant(ENDINGS, "task.upstreamsOpen > 0 && !always", "task.upstreamsOpen > 1 && !always",
                        "a task is judged one upstream too early"),
                new Mutant(ENDINGS, "down.upstreamsOpen--;",
                        "if (task.state != TaskState.SKIPPED) { down.upstreamsOpen--; }",
                        "a task downstream of a skipped task waits forever"),
                new Mutant("plan/TriggerRule.java", "case NONE_FAILED -> failed == 0;",
                        "case NONE_FAILED -> completed == upstreams;", "a trigger rule is evaluated as another one")
                        .foundBy(20),
                new Mutant(TASKS, "if (!step.state.terminal()) { cancel(d, step); }",
                        "if (!step.state.terminal() && step.state != io.keelson.core.lifecycle.StepState.AWAITING_RETRY) { cancel(d, step); }",
                        "a cancelled task leaves a step that awaits its retry").foundBy(2),
                new Mutant("decide/Propagation.java", "if (other.terminal() || kept.contains(other) ||",
                        "if (other.terminal() || other.state == TaskState.PENDING || kept.contains(other) ||",
                        "a failed run starts further tasks").foundBy(8),
                new Mutant("decide/Propagation.java",
                        "step.isHeld() && Holds.countedCost(d.funds.prices(), step).signum() > 0",
                        "step.isHeld()",
                        "a failed run waits for work that costs nothing").foundBy(15),
                new Mutant("decide/CompletionCounters.java", "case SKIPPED -> run.tasksSkipped += by;",
                        "case SKIPPED -> { }",
                        "skipped tasks are not counted"),
                new Mutant("decide/RunEnd.java", "d.changes.clear(d.view);", "",
                        "an ended run leaves work and timers behind"),
                new Mutant("decide/Decision.java", "run.seq++;",
                        "run.seq += payload instanceof io.keelson.core.run.StepPayload.Released ? 2 : 1;",
                        "the audit trail has a gap in its numbers"),
                new Mutant("decide/AttemptRestarts.java",
                        "&& spec.dependsOn().stream().allMatch(on -> carried.containsKey(on.task()))", "",
                        "a retry reuses a task whose upstream it repeats").foundBy(35),
                new Mutant("decide/PlanRows.java", "kept.generations().getOrDefault(spec.id(), 1);", "1;",
                        "a retry repeats rejected work under the old effect key").foundBy(15));
    }

    private static List<Mutant> gates() {
        return List.of(
                new Mutant(GATES, "case COMPLETED -> approve ? Reply.UNCHANGED : decided(\"approved\", step);",
                        "case COMPLETED -> Reply.UNCHANGED;", "a rejection after the approval is accepted").foundBy(20),
                new Mutant("decide/Decider.java", "d.run.attempt >= d.run.policy().maxAttempts()",
                        "d.run.attempt > d.run.policy().maxAttempts()", "a run has one attempt too many").foundBy(11),
                new Mutant(RESUMPTION,
                        "d.ask(d.run.id());",
                        "",
                        "acceptance is not requested again after a pause").foundBy(32),
                new Mutant(TASKS, "d.disarm(TimerKind.STEP_WAIT, step.id());", "",
                        "a cancelled wait leaves its timer").foundBy(2));
    }

    private static List<Mutant> levels() {
        return List.of(
                new Mutant("decide/AttemptRestarts.java", "agent.nextRunAt = when;", "agent.nextRunAt = null;",
                        "an agent restarts without backoff").foundBy(3),
                new Mutant("decide/AttemptRestarts.java",
                        "task.attempt++; StepSpec escalated = RetryModels.next(d, task);",
                        "StepSpec escalated = RetryModels.next(d, task);",
                        "a task is retried forever"),
                new Mutant("decide/Ladder.java", "for (int number = Rungs.takenRungs(task) + 1;",
                        "for (int number = 1;",
                        "a rung of a ladder is taken again").foundBy(37),
                new Mutant("decide/Ladder.java",
                        "task.grantedRetries = Math.max(task.grantedRetries, task.attempt + 1 - TaskFailures.tries(d, task));",
                        "",
                        "the attempt of a rung is one of the task's own").foundBy(47),
                new Mutant("decide/TicketAnswers.java", "step.grantedRetries = step.attempt;", "",
                        "forgiven attempts still count").foundBy(7),
                new Mutant("decide/Tickets.java", "d.view.tickets.remove(ticket.id());", "",
                        "an answered ticket stays open").foundBy(3),
                new Mutant(TASKS, "Tickets.voidOf(d, task);", "", "a ticket outlives its task").foundBy(127),
                new Mutant("decide/Verdicts.java", "task.attempt, feedback)); SlotScheduling.free(d, task);",
                        "task.attempt, feedback));",
                        "a task that waits for a person keeps its slot"),
                new Mutant(ENDINGS, "d.view.tasksOpen > (hookWaits ? 1 : 0)", "d.view.tasksOpen > 1",
                        "a run ends while its last task is at work"),
                new Mutant("decide/CompletionCounters.java", "ended.state == TaskState.FAILED || ended.failureIgnored)",
                        "ended.state == TaskState.FAILED && !ended.failureIgnored)",
                        "none_failed holds after an ignored failure").foundBy(84),
                new Mutant("decide/CompletionCounters.java", "ended.state == TaskState.FAILED || ended.failureIgnored)",
                        "ended.state == TaskState.FAILED)",
                        "none_failed holds after a task whose steps all failed and were ignored").foundBy(1547));
    }

    private static List<Mutant> credits() {
        return List.of(
                new Mutant(CREDITS, "\"/\" + run.attempt + \"/settle\"",
                        "\"/\" + run.attempt + \"/settle/\" + run.seq",
                        "a refund's key is not unique"),
                new Mutant(CREDITS, "d.run.charged = d.run.charged.add(amount);",
                        "d.run.charged = d.run.charged.add(amount).add(amount);",
                        "a cost is charged twice"),
                new Mutant("money/TokenPrices.java", "cost(output, tokens.output())", "cost(input, tokens.output())",
                        "output has the price of input"),
                new Mutant("money/TokenPrices.java",
                        "cost(Objects.requireNonNullElse(cacheRead, input), tokens.cacheRead())",
                        "cost(input, tokens.cacheRead())", "cached input has the price of other input"),
                new Mutant("money/Tokens.java", "cacheWrite + more.cacheWrite", "cacheWrite",
                        "cache writes of later results are not counted"),
                new Mutant("decide/RunEnd.java", "ChangeSet.Account credits = Credits.settle(d);",
                        "ChangeSet.Account credits = state == RunState.CANCELLED ? ChangeSet.Account.open(d.run) : Credits.settle(d);",
                        "a cancelled run keeps its reservation"),
                new Mutant(HARD_LIMIT, "return room == null ? amount : amount.min(room).max(Amounts.ZERO);",
                        "return amount;",
                        "a reservation exceeds the hard limit"),
                new Mutant("decide/LimitStop.java", "stop(d, \"the cost of a step could not be collected\");",
                        "",
                        "a run without credits continues").foundBy(4),
                new Mutant(HARD_LIMIT, "return byRun || byTask;",
                        "return false;",
                        "steps begin at the limit"),
                new Mutant("decide/Decider.java", "Reply.Rejected refusal = Credits.reserve(d, d.run.attempt + 1);",
                        "Reply.Rejected refusal = null;",
                        "a new attempt reserves nothing"),
                new Mutant(STEPS, "PayloadPart.Spent spent = Credits.charge(d, step, use.result(), use.cost(), null);",
                        "PayloadPart.Spent spent = failed ? null : Credits.charge(d, step, use.result(), use.cost(), null);",
                        "a failed attempt is not charged"),
                new Mutant(LOST, "lost.isEmpty() ? null", "true ? null",
                        "a lost lease is not charged for the request to a model that it has sent"),
                new Mutant(LANES, "used != null && used.epoch() == step.leaseEpoch",
                        "used != null && used.epoch() != step.leaseEpoch",
                        "a lease that ends without a report has no result for the use of its heartbeats").foundBy(30),
                new Mutant(LOST, "most == null || !hold.requested()", "most == null || hold.requested()",
                        "a cancelled step is not charged for the request to a model that is under way"),
                new Mutant(LOST, "all = all.using(all.tokens().plus(more.tokens()), cost,",
                        "all = all.using(all.tokens(), cost,",
                        "a failed try is not charged for the answer that it has not received"),
                new Mutant(CREDITS, "run.chargedBefore = run.chargedBefore.add(run.charged);",
                        "run.chargedBefore = run.charged;",
                        "a run loses the cost of earlier attempts"),
                new Mutant(CREDITS, "d.run.budgetWarned = true;",
                        "",
                        "the budget warning is repeated"),
                new Mutant(CREDITS, "d.changes.settle(run.workspaceId(), run.reserved, run.charged);",
                        "d.changes.settle(run.workspaceId(), run.reserved, Amounts.ZERO);",
                        "spent credits are refunded"),
                new Mutant("decide/ChangeSet.java",
                        "passing.merge(transfer.workspaceId(), transfer.amount(), BigDecimal::add);", "",
                        "a reservation that ends in its own commit exceeds what is left").foundBy(247),
                new Mutant("decide/ChildBudgets.java", "room.compareTo(amount.subtract(has)) < 0",
                        "room.signum() < 0",
                        "a child's budget exceeds the rest of its parent's limit").foundBy(176),
                new Mutant(CREDITS, "d.run.uncollected = Amounts.exact(d.run.uncollected.add(uncollected));",
                        "",
                        "uncollected cost is lost").foundBy(4),
                new Mutant("decide/AttemptRestarts.java", "d.run.uncollected = Amounts.ZERO;",
                        "",
                        "a new attempt keeps the uncollected cost of the old one").foundBy(10),
                new Mutant(CREDITS, "BigDecimal amount = Amounts.of(open);", "BigDecimal amount = Amounts.of(exact);",
                        "costs are rounded one by one").foundBy(9),
                new Mutant(CREDITS, "return d.run.reserved.subtract(usedCredits(d.run)).subtract(d.view.held);",
                        "return d.run.reserved.subtract(d.run.charged).subtract(d.view.held);",
                        "a reservation pays the part of a cost that is not charged yet").foundBy(59),
                new Mutant("decide/RunRow.java", "this.remainder = remainder;", "",
                        "a loaded run has lost the part of its cost that is not charged yet").foundBy(9),
                new Mutant("decide/Decider.java", "if (d.heldBack || d.holdEnded ||", "if (d.heldBack ||",
                        "a step that a refused request holds back is forgotten when the hold of another one ends")
                        .foundBy(294),
                new Mutant("decide/Holds.java", "d.view.held = d.view.held.add(paid);", "",
                        "a hold does not count"),
                new Mutant("decide/Holds.java", "d.view.held = d.view.held.subtract(step.hold.amount());", "",
                        "an ended hold counts for ever"),
                new Mutant("decide/Thresholds.java", "before.compareTo(at) < 0 && used.compareTo(at) >= 0",
                        "used.compareTo(at) >= 0",
                        "a reached part of a limit is named again").foundBy(3),
                new Mutant("decide/RunRow.java", "this.charged = charged;",
                        "",
                        "a loaded run has lost its charges"));
    }

    private static List<Mutant> views() {
        return List.of(
                new Mutant("decide/Decision.java", "changes.touch(run); changes.disarm(", "changes.disarm(",
                        "a lost answer leaves stale views on other nodes valid"),
                new Mutant(RESUMPTION,
                        "!task.isGroup()) { SlotScheduling.start(d, task.agent()); SlotScheduling.armRetries(d, task);",
                        "!task.isGroup()) { SlotScheduling.start(d, task.agent());",
                        "a resume under a slow clock loses a backoff that another node saw end").foundBy(1264),
                new Mutant(LANES, "armRetries(d, task);", "",
                        "a step that a limit holds back loses a backoff that a node with a faster clock saw end")
                        .foundBy(2799),
                new Mutant("decide/TaskRow.java", "this.continuations = continuations;", "",
                        "a loaded task has lost its turns"),
                new Mutant("decide/RunView.java", "step.holder = step.state == StepState.RUNNING ? holder : null;", "",
                        "a loaded step has no holder"));
    }

    private static List<Mutant> rounds() {
        return List.of(
                new Mutant(ROUNDS, "loop.round() >= rule.max()", "loop.round() > rule.max()", "one round too many")
                        .foundBy(3),
                new Mutant(ROUNDS, "loop.cost.compareTo(rule.budget()) >= 0", "loop.cost.compareTo(rule.budget()) > 9",
                        "a round begins beyond the budget of its rounds").foundBy(3),
                new Mutant(ROUNDS, "d.changes.fold(round);", "", "an earlier round stays in the database").foundBy(3),
                new Mutant(ROUNDS, "number - rule(loop).keep()", "number - 99",
                        "the view grows with the rounds").foundBy(3),
                new Mutant(ROUNDS, "if (d.carriedOut()) {", "if (d.run != null) {",
                        "a round begins while the run does not run").foundBy(3),
                new Mutant(ROUNDS, "d.arm(TimerKind.TASK_CONTINUE, loop.id(), loop.nextRunAt);", "",
                        "a delayed round never begins").foundBy(3),
                new Mutant(ROUNDS, "round.effectGeneration = loop.effectGeneration;", "",
                        "a round is done again under an older key").foundBy(3),
                new Mutant("decide/PlanRows.java",
                        ".forEach(up -> d.view.link(member, Objects.requireNonNull(next.get(up)))));",
                        ".size());",
                        "tasks of a further round do not wait for each other").foundBy(3),
                new Mutant(ROUNDS, "if (loop.childrenOpen == 0) {", "if (loop.children.isEmpty()) {",
                        "a group whose tasks were skipped before it began never ends").foundBy(13),
                new Mutant("decide/Completion.java", "Rounds.skipRest(d, task, todo);", "",
                        "tasks of a skipped group stay open").foundBy(3),
                new Mutant("decide/EvaluatorAnswers.java",
                        "Math.max(task.effectGeneration, generations.getOrDefault(1, 1))", "task.effectGeneration",
                        "a task of a round is done again under an older key").foundBy(3),
                new Mutant(RESUMPTION, "Rounds.due(d, task);", "", "a resume loses the next round").foundBy(3),
                new Mutant("decide/Decision.java", "Objects.requireNonNull(task.group()).collect(task);", "",
                        "a round's cost is lost").foundBy(3));
    }
}
