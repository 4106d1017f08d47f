package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.decide.Question;
import io.keelson.core.decide.Question.Kind;
import io.keelson.core.decide.RunRow.Gate;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.CallGate;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Laws of progress (I5): ended rows hold no work, every open row has a worker, timer or person that moves it, and limits on
 * concurrent work hold.
 */
final class WorkLaws {
    private static final int CALLS = 3;
    /** Between the clocks of nodes and the database, and the second in which a call is counted. */
    private static final Duration SKEW = Duration.ofSeconds(6);
    private static final Set<TaskState> AT_WORK = Set.of(TaskState.ASSIGNED, TaskState.RUNNING,
            TaskState.CONTINUING, TaskState.VERIFYING);

    /** Timers with which one run evaluates another one, which may have ended meanwhile. */
    private static final Set<TimerKind> KIN = Set.of(TimerKind.EVALUATE_CHILD, TimerKind.EVALUATE_PARENT,
            TimerKind.EVALUATE_UNDO, TimerKind.EVALUATE_CHILD_UNDO);

    private final RunRows rows;
    private final RunPolicy policy;
    private final RunState state;

    WorkLaws(RunRows rows) {
        this.rows = rows;
        this.policy = rows.accepted.policy();
        this.state = rows.run.state();
    }

    void check() {
        unless(rows.queue.keySet().stream().allMatch(this::open), "a lane without an open step: %s", rows.queue);
        rows.timers.values().forEach(timer -> unless(alive(timer),
                "a timer without a subject that waits, or with another question: %s", timer));
        rows.steps.values().forEach(this::step);
        rows.tasks.values().forEach(this::task);
        rows.agents.values().forEach(agent -> unless(agent.attempt() <= policy.failures().level().maxAttempts(),
                "too many attempts: %s", agent));
        earlierAttempts();
        signals();
        humans();
        unless(rows.run.attempt() <= policy.maxAttempts(), "attempt %s of the run", rows.run.attempt());
        unless(rows.run.replans() <= (rows.run.planVersion() == 0 ? 3 : policy.failures().maxReplans()), "%s new plans",
                rows.run.replans());
        unless(state != RunState.ESCALATED || !rows.openTickets().isEmpty(), "escalated without a ticket");
        new UndoLaws(rows).check();
        switch (state.type()) {
            case TERMINAL -> ended();
            case RUNNING -> running();
            case PENDING, PAUSED -> {
                if (queued()) {
                    running();
                    nothingHasBegun();
                } else {
                    rows.queue.values().forEach(
                            place -> unless(place.item().holder() != null || state == RunState.PLANNING,
                                    "to be claimed though the run does not run: %s", place));
                }
            }
        }
        unless(state != RunState.PLANNING || planning(), "no planner in a planning run: %s", rows.tasksNow());
        unless(state != RunState.RESUMING, "a state that no commit may end in: %s", state);
    }

    /** True when its first steps wait to be claimed. */
    private boolean queued() {
        return state == RunState.READY || state == RunState.PENDING && policy.concurrency() == null;
    }

    /** A run is running from its first step that begins, and its time does not count before. */
    private void nothingHasBegun() {
        unless(rows.stepsNow().stream().filter(step -> !rows.tasks.get(step.taskId()).key().startsWith(".planning-"))
                .allMatch(step -> step.leaseEpoch() == 0 && step.state() != StepState.WAITING
                        && step.state() != StepState.WAITING_APPROVAL),
                "a step has begun, the run has not: %s", rows.stepsNow());
        unless(rows.run.activeSince() == null, "its time counts: %s", rows.run);
    }

    private boolean planning() {
        return rows.run.planVersion() == 0 && (rows.timers.containsKey(new TimerKey(TimerKind.EVALUATE_PLAN, rows.id()))
                || rows.tasksNow().stream()
                        .anyMatch(task -> task.key().startsWith(".planning-") && !task.state().terminal()));
    }

    private boolean open(Lane lane) {
        return rows.stepsOf(lane.taskId()).anyMatch(step -> rows.laneOf(step).equals(lane) && !step.state().terminal());
    }

    private boolean alive(Timer timer) {
        UUID subject = timer.key().subject();
        return switch (timer.key().kind()) {
            case STEP_RETRY -> true;
            case STEP_WAIT -> rows.steps.get(subject).state() == StepState.WAITING;
            case TASK_CONTINUE -> rows.tasks.get(subject).state() == TaskState.CONTINUING
                    || rows.tasks.get(subject).state() == TaskState.RUNNING && rows.tasks.get(subject).isLoop()
                            && rows.tasks.get(subject).nextRunAt() != null;
            case EVALUATE_GATE, EVALUATE_TASK_OUTPUT -> !rows.tasks.get(subject).state().terminal();
            case EVALUATE_CHILD, EVALUATE_PARENT, EVALUATE_CHILD_UNDO -> true;
            case EVALUATE_UNDO -> rows.undo != null && state.terminal();
            case EVALUATE_STEP -> !rows.steps.get(subject).state().terminal();
            case TASK_RETRY -> rows.tasks.get(subject).state() == TaskState.AWAITING_RETRY;
            case AGENT_RETRY -> rows.agents.get(subject).nextRunAt() != null;
            case RUN_RETRY -> state == RunState.RETRYING;
            case START -> state == RunState.CREATED;
            case HUMAN -> asked(timer);
            case EVALUATE_RUN_OUTPUT, EVALUATE_PLAN, HEARTBEAT, WATCH -> !state.terminal();
        };
    }

    /** A row waits, and its timer has the question of the row. */
    private boolean asked(Timer timer) {
        UUID subject = timer.key().subject();
        Question question = Objects.requireNonNull(timer.question());
        if (subject.equals(rows.id())) {
            return asksAboutTheRun() && (state == RunState.AWAITING_APPROVAL
                    ? is(question, Kind.PLAN_APPROVAL, rows.run.stateSince())
                    : is(question, Kind.RESULT_ACCEPTANCE, rows.tasksNow().stream().map(Saved.Task::completedAt)
                            .max(Comparator.naturalOrder()).orElse(rows.run.stateSince())));
        }
        if (rows.tasks.containsKey(subject)) {
            Saved.Task task = rows.tasks.get(subject);
            return task.state() == TaskState.AWAITING_HUMAN && question.kind() == Kind.TASK_REVIEW
                    && !question.askedAt().isAfter(task.stateSince().plus(SKEW));
        }
        if (rows.steps.containsKey(subject)) {
            Saved.Step step = rows.steps.get(subject);
            Kind kind = step.spec().kind() == StepKind.APPROVAL ? Kind.APPROVAL_STEP
                    : step.spec().tool().equals(AgentTerms.ASK) ? Kind.QUESTION : Kind.CALL_APPROVAL;
            return step.state() == StepState.WAITING_APPROVAL && is(question, kind, step.startedAt());
        }
        Saved.Ticket ticket = rows.tickets.get(subject);
        return ticket.open() && is(question, Kind.ESCALATION, ticket.openedAt());
    }

    private static boolean is(Question question, Kind kind, Instant asked) {
        return question.kind() == kind && question.askedAt().equals(asked);
    }

    private boolean asksAboutTheRun() {
        return state == RunState.AWAITING_APPROVAL || state == RunState.RUNNING && rows.run.gate() == Gate.ACCEPTANCE;
    }

    /** Every wait for a person has the timer from which the inbox finds it. */
    private void humans() {
        unless(!asksAboutTheRun() || humanTimer(rows.id()), "no timer of a person for the run: %s", rows.run);
        rows.openTickets().forEach(ticket -> {
            unless(humanTimer(ticket.id()), "no timer of a person for the ticket: %s", ticket);
            unless(ticket.taskId() == null || (ticket.stepId() == null ? rows.tasks.get(ticket.taskId()).parked()
                    : rows.steps.get(ticket.stepId()).parked()), "a ticket that blocks nothing: %s", ticket);
            neverWhileWaitingHelps(ticket);
        });
        rows.stepsNow().forEach(step -> unless(step.state() != StepState.WAITING_APPROVAL || humanTimer(step.id()),
                "no timer of a person for the approval: %s", step));
        rows.tasksNow().forEach(task -> unless(task.state() != TaskState.AWAITING_HUMAN || humanTimer(task.id()),
                "no timer of a person for the review: %s", task));
    }

    /** A system out of order opens a ticket after the wait for it, and as one error of its run at most. */
    private void neverWhileWaitingHelps(Saved.Ticket ticket) {
        if (Tools.BUSY.equals(ticket.errorCode()) && ticket.stepId() != null) {
            Duration waited = Duration.between(rows.steps.get(ticket.stepId()).deferredSince(), ticket.openedAt());
            unless(waited.compareTo(policy.timeouts().providerWait()) >= 0, "asked after %s: %s", waited, ticket);
        }
        if (ticket.reason().equals(RetryReason.ERROR_COUNT_EXCEEDED.wire())) {
            EscalationPolicy escalation = policy.failures().escalation();
            Instant since = ticket.openedAt().minus(escalation.window()).minus(SKEW);
            List<StepResult> failed = rows.calls.values().stream()
                    .filter(call -> call.at().isAfter(since))
                    .map(Saved.Call::result).filter(result -> result.error() != null).toList();
            long causes = failed.stream().filter(result -> result.system() == null).count()
                    + failed.stream().map(StepResult::system).filter(Objects::nonNull).distinct().count();
            unless(causes > escalation.errorThreshold(), "%s causes of errors: %s", causes, ticket);
        }
    }

    private boolean humanTimer(UUID subject) {
        return rows.timers.containsKey(new TimerKey(TimerKind.HUMAN, subject));
    }

    /** A parked step or task has its ticket, and nothing else is parked. */
    private boolean ticket(UUID task, UUID step) {
        return rows.openTickets().stream()
                .anyMatch(ticket -> task.equals(ticket.taskId()) && Objects.equals(step, ticket.stepId()));
    }

    private void task(Saved.Task task) {
        RetryPolicy own = task.spec().policy().retry();
        RetryPolicy retry = own == null ? policy.failures().task() : own;
        unless(task.attempt() - task.grantedRetries() <= retry.maxAttempts(), "too many attempts: %s", task);
        unless(!task.superseded() || task.state().terminal(), "superseded and open: %s", task);
        unless(!task.parked() || ticket(task.id(), null), "parked without a ticket: %s", task);
        boolean waits = rows.timers.containsKey(new TimerKey(TimerKind.TASK_RETRY, task.id()));
        unless(task.state() != TaskState.AWAITING_RETRY || waits || state != RunState.RUNNING
                || Undos.is(rows) && task.parked(),
                "no retry is due: %s", task);
        turns(task);
        if (task.isLoop()) {
            rounds(task, Objects.requireNonNull(task.spec().policy().repeat()));
        }
        Saved.Task loop = task.groupId() == null ? null : rows.tasks.get(task.groupId());
        if (loop != null && loop.isLoop()) {
            long inside = task.spec().dependsOn().stream().filter(on -> on.task().startsWith(loop.key() + ".")).count();
            unless(task.upstreams().size() == inside, "a task of a round does not wait for the others: %s", task);
        }
        unless(rows.stepsOf(task.id()).allMatch(step -> step.state().terminal()
                || !task.state().terminal() && step.taskAttempt() == task.attempt()), "I5: open steps in %s", task);
    }

    /** Rounds follow one another, are bounded, and the view has few of them. */
    private void rounds(Saved.Task loop, Repeat rule) {
        List<List<Saved.Task>> rounds = List.copyOf(rows.roundsOf(loop)
                .collect(Collectors.groupingBy(Saved.Task::itemIndex, TreeMap::new, Collectors.toList())).values());
        List<Saved.Task> ended = rounds.stream().limit(Math.max(0, rounds.size() - 1)).flatMap(List::stream).toList();
        long present = rounds.stream().filter(round -> !rows.folded.contains(round.getFirst().id())).count();
        unless(rounds.size() <= rule.max(), "too many rounds: %s", rounds);
        unless(IntStream.range(0, rounds.size()).allMatch(i -> rounds.get(i).getFirst().itemIndex() == i + 1),
                "a round is missing: %s", rounds);
        unless(rounds.stream().allMatch(round -> round.size() == Math.max(1, rule.tasks().size())
                && round.stream().map(task -> rows.folded.contains(task.id())).distinct().count() == 1),
                "a part of a round: %s", rounds);
        unless(present <= rule.keep() + 1 && present >= Math.min(rounds.size(), rule.keep() + 1),
                "%s rounds are kept: %s", present, rule);
        unless(ended.stream().allMatch(task -> task.state().terminal()), "two rounds at a time: %s", rounds);
        BigDecimal before = ended.stream().map(Saved.Task::cost).reduce(BigDecimal.ZERO, BigDecimal::add);
        unless(rule.budget() == null || rounds.size() < 2 || before.compareTo(rule.budget()) < 0,
                "a round beyond the budget: %s", rounds);
        boolean waits = rows.timers.containsKey(new TimerKey(TimerKind.TASK_CONTINUE, loop.id()))
                || rows.timers.containsKey(new TimerKey(TimerKind.EVALUATE_TASK_OUTPUT, loop.id()));
        unless(loop.state() != TaskState.RUNNING || state != RunState.RUNNING || waits
                || rounds.getLast().stream().anyMatch(task -> !task.state().terminal()), "no round is due: %s", loop);
        unless(loop.state() != TaskState.COMPLETED || loop.reusedFrom() != null
                || rounds.getLast().stream().allMatch(task -> task.state().terminal()
                        && task.state() != TaskState.CANCELLED),
                "completed with its last round open: %s", rounds);
    }

    /** Forbidden calls are never executed, turns are bounded, and a turn follows every call. */
    private void turns(Saved.Task task) {
        AgentTerms terms = task.spec().policy().agent();
        int most = terms == null || terms.maxTurns() == 0 ? policy.maxContinuations() : terms.maxTurns() - 1;
        unless(task.continuations() <= most, "too many turns: %s", task);
        List<Saved.Step> own = rows.stepsOf(task.id()).filter(step -> step.taskAttempt() == task.attempt()).toList();
        boolean stuck = "AGENT_STUCK".equals(task.errorCode());
        unless(stuck || repeats(own) < 5, "an agent repeats a mistake: %s", own);
        for (Saved.Step step : own) {
            if (step.spec().kind() != StepKind.CALL || step.caller() != null) {
                continue;
            }
            boolean allowed = terms != null && terms.tools().contains(step.spec().tool());
            unless(allowed || step.state() == StepState.SKIPPED && step.leaseEpoch() == 0,
                    "a call that is not allowed: %s", step);
            if (terms != null) {
                gate(terms, step);
            }
            unless(stuck
                    || own.stream().anyMatch(later -> later.position() == step.position() && later.turn() > step.turn()
                            && later.spec().kind() == StepKind.TURN),
                    "no turn sees what came of %s", step);
            unless(task.state() != TaskState.COMPLETED || step.state().terminal(), "completed before %s", step);
        }
    }

    /** A contractor delegates nothing; destructive calls have a gate, which opens by a condition only if it does not hold. */
    private static void gate(AgentTerms terms, Saved.Step call) {
        unless(!call.spec().delegates() || terms.type().equals(AgentTerms.ROSTER)
                || call.state() == StepState.SKIPPED, "a contractor delegates: %s", call);
        unless(call.gate() != null || call.state() == StepState.SKIPPED
                || !call.spec().input().equals(Tools.DESTROYS) || call.taskAttempt() > 1,
                "a destructive call without a person: %s", call);
        unless(call.gate() == null || call.gate().reason() != CallGate.Reason.CONDITION_FALSE
                || !Evaluations.asks(call.id()), "its condition holds: %s", call);
    }

    /** The longest row of equal calls with equal errors. */
    private static int repeats(List<Saved.Step> steps) {
        int most = 0;
        int repeats = 0;
        String last = null;
        for (Saved.Step step : steps.stream()
                .filter(each -> each.spec().kind() == StepKind.CALL && each.caller() == null)
                .sorted(Comparator.comparing(Saved.Step::position).thenComparing(Saved.Step::turn)).toList()) {
            boolean failed = step.state() == StepState.FAILED || step.state() == StepState.SKIPPED;
            String mistake = failed ? step.spec().tool() + step.spec().input() + step.errorCode() : null;
            repeats = mistake == null ? 0 : mistake.equals(last) ? repeats + 1 : 1;
            last = mistake;
            most = Math.max(most, repeats);
        }
        return most;
    }

    private void step(Saved.Step step) {
        Saved.Place place = rows.queue.get(rows.laneOf(step));
        boolean waits = rows.timers.keySet().stream().anyMatch(key -> key.subject().equals(step.id()));
        if (step.caller() != null && !step.state().terminal()) {
            call(step, rows.steps.get(step.caller()), place != null || waits);
        }
        switch (step.state()) {
            case RUNNING -> {
                asked(step, waits);
                unless(place != null || waits || state != RunState.RUNNING || mayBeHeldBack()
                        || rows.tasks.get(step.taskId()).state() == TaskState.QUEUED, "no executor: %s", step);
            }
            case WAITING -> {
                unless(waits || step.signalWait() != null || rows.children.containsKey(step.id())
                        || step.spec().undoesRun() || parked(step, place != null), "waits for nothing: %s",
                        step);
                unless(!rows.children.containsKey(step.id()) || !rows.children.get(step.id()).ended(),
                        "waits for a run that has ended: %s", step);
                unless(step.signalWait() == null || kept(step.signalWait().signal()) == 0, "its signal is kept: %s",
                        step);
            }
            case AWAITING_RETRY -> unless(step.parked() ? ticket(step.taskId(), step.id())
                    : waits || place != null || state != RunState.RUNNING || mayBeHeldBack(),
                    "no retry is due: %s",
                    step);
            case PENDING, WAITING_APPROVAL, COMPLETED, FAILED, CANCELLED, SKIPPED -> {
            }
        }
    }

    /** True for the step of an ended program that has an open call, or that is to be claimed again. */
    private boolean parked(Saved.Step step, boolean queued) {
        return step.spec().kind() == StepKind.TOOL && (queued || state != RunState.RUNNING || mayBeHeldBack()
                || step.nextRunAt() == null && rows.stepsOf(step.taskId())
                        .anyMatch(call -> step.id().equals(call.caller()) && !call.state().terminal()));
    }

    /** A program's call is open as long as its caller at most, has a lane of its own, and begins at once. */
    private void call(Saved.Step call, Saved.Step caller, boolean begun) {
        unless(!caller.state().terminal() && caller.taskId().equals(call.taskId()), "a call without a caller: %s",
                call);
        unless(rows.stepsOf(call.taskId())
                .noneMatch(other -> !other.id().equals(call.id()) && other.lane() == call.lane()
                        && !other.state().terminal()),
                "two open steps in the lane of %s", call);
        unless(begun || call.state() != StepState.PENDING || state != RunState.RUNNING || mayBeHeldBack()
                || rows.tasks.get(call.taskId()).state() != TaskState.RUNNING, "nothing begins the call %s", call);
    }

    /** A step whose question has an answer does not wait. */
    private void asked(Saved.Step step, boolean waits) {
        Saved.Wait call = rows.waits.get(step.id());
        boolean question = step.deferredFor() != null && step.deferredFor().startsWith(Deferral.INBOX);
        unless(!question || !waits || call.now().state() == CallWait.State.ASKED,
                "it waits for an answer that is there: %s",
                step);
    }

    private long kept(String signal) {
        return rows.signals.values().stream()
                .filter(sent -> sent.takenBy() == null && sent.signal().name().equals(signal)).count();
    }

    /** A signal goes to at most one step, which has then completed. */
    private void signals() {
        Set<UUID> taken = new HashSet<>();
        rows.signals.values().stream().filter(sent -> sent.takenBy() != null).forEach(sent -> {
            unless(taken.add(sent.takenBy()), "two signals for one step: %s", sent);
            unless(rows.steps.get(sent.takenBy()).state() == StepState.COMPLETED, "taken, yet not done: %s", sent);
        });
        rows.steps.values().forEach(step -> unless(
                step.signalWait() == null || step.state() == StepState.WAITING, "waits no more: %s", step));
    }

    /** True when steps may wait for the limits until claimed work, requests of programs, and children have ended. */
    private boolean mayBeHeldBack() {
        boolean out = !rows.queue.isEmpty() || !rows.requests.isEmpty()
                || rows.children.values().stream().anyMatch(child -> !child.ended());
        return out && (limited() || rows.stepsNow().stream().anyMatch(WorkLaws::isRefused));
    }

    /** True for a step that waits, or has waited, until the limits pay a request of its program. */
    static boolean isRefused(Saved.Step step) {
        return step.metered() != null && step.metered().requests() != null && step.metered().requests().waits();
    }

    private boolean limited() {
        return rows.run.hardLimit() != null || policy.budget().hardLimit() != null || !rows.budgets.isEmpty();
    }

    private void earlierAttempts() {
        int attempt = rows.run.attempt();
        unless(rows.tasks.values().stream().allMatch(t -> t.ofAttempt() == attempt || t.state().terminal())
                && rows.steps.values().stream().allMatch(s -> s.ofAttempt() == attempt || s.state().terminal())
                && rows.agents.values().stream().allMatch(a -> a.ofAttempt() == attempt || a.state().terminal()),
                "I5: an earlier attempt is still open");
    }

    private void ended() {
        List<Saved.Task> tasks = rows.tasksNow();
        unless(rows.queue.isEmpty() && rows.timers.keySet().stream().allMatch(key -> KIN.contains(key.kind())),
                "I5: left behind: %s %s", rows.queue, rows.timers);
        unless(tasks.stream().allMatch(task -> task.state().terminal()), "I5: open tasks: %s", tasks);
        unless(rows.agentsNow().stream().allMatch(agent -> agent.state().terminal()), "I5: open agents: %s",
                rows.agentsNow());
        unless(rows.run.completedAt() != null, "ended when?");
        unless(rows.openTickets().isEmpty(), "I5: open tickets: %s", rows.tickets);
        boolean anyFailed = tasks.stream().anyMatch(task -> task.state() == TaskState.FAILED && !task.failureIgnored()
                && !rows.agents.get(task.agentId()).failureIgnored());
        switch (state) {
            case COMPLETED -> {
                unless(!anyFailed, "completed with a failed task: %s", tasks);
                unless(rows.agentsNow().stream().allMatch(agent -> agent.state() == AgentState.COMPLETED
                        || agent.failureIgnored() || didNothing(agent)), "completed with an agent that is not: %s",
                        rows.agentsNow());
            }
            case SKIPPED -> unless(rows.agentsNow().stream().allMatch(this::didNothing),
                    "skipped, but something was done: %s", rows.agentsNow());
            case FAILED, CANCELLED -> unless(rows.run.errorCode() != null, "why did it end?");
            case CREATED, PENDING, PLANNING, AWAITING_APPROVAL, READY, RUNNING, PAUSED, BUDGET_EXCEEDED, ESCALATED,
                    RESUMING,
                    RETRYING ->
                throw new Violation(
                        "not an end: " + state);
        }
    }

    private boolean didNothing(Saved.Agent agent) {
        boolean own = agent.name() == null || !agent.name().startsWith(".");
        return !own || agent.state() == AgentState.SKIPPED || agent.failureIgnored()
                || rows.tasksNow().stream().noneMatch(
                        task -> task.agentId().equals(agent.id()) && task.state() == TaskState.COMPLETED);
    }

    private void running() {
        boolean others = rows.stepsNow().stream().anyMatch(step -> step.signalWait() != null
                || step.state() == StepState.WAITING
                        && (rows.children.containsKey(step.id()) || step.spec().undoesRun()));
        boolean timer = rows.timers.keySet().stream().anyMatch(key -> key.kind() != TimerKind.WATCH)
                || rows.children.values().stream().anyMatch(child -> !child.ended());
        unless(!rows.queue.isEmpty() || timer || others || !rows.requests.isEmpty(), "I5: nothing can move the run: %s",
                rows.tasksNow());
        unless(Undos.is(rows) || rows.openTickets().isEmpty(), "runs with open tickets: %s", rows.openTickets());
        failFast();
        int agentsAtWork = 0;
        boolean waiting = false;
        for (Saved.Agent agent : rows.agentsNow()) {
            long busy = rows.tasksNow().stream().filter(task -> task.agentId().equals(agent.id()) && atWork(task))
                    .peek(this::inStep).count();
            int limit = policy.sequentialTasks() ? 1
                    : agent.name() == null ? policy.tasksPerDefaultAgent() : policy.tasksPerAgent();
            unless(busy <= limit, "%s tasks at a time for %s", busy, agent);
            agentsAtWork += busy > 0 ? 1 : 0;
            waiting |= waits(agent);
        }
        unless(agentsAtWork <= policy.maxAgents(), "%s agents at work", agentsAtWork);
        unless(!waiting || placesTaken() >= policy.maxAgents(), "an agent waits for a place, and there is one: %s",
                rows.tasksNow());
    }

    /** An agent that could begin something if it had a place; under a hard limit it may have to wait for more than that. */
    private boolean waits(Saved.Agent agent) {
        return !limited() && !hasPlace(agent) && rows.tasksNow().stream()
                .anyMatch(task -> task.agentId().equals(agent.id()) && task.state() == TaskState.QUEUED);
    }

    private long placesTaken() {
        return rows.agentsNow().stream().filter(this::hasPlace).count();
    }

    private boolean hasPlace(Saved.Agent agent) {
        return rows.tasksNow().stream().anyMatch(task -> task.agentId().equals(agent.id()) && (atWork(task)
                || task.state() == TaskState.QUEUED
                        && rows.queue.keySet().stream().anyMatch(lane -> lane.taskId().equals(task.id()))));
    }

    /** A failure that is not ignored, retried or replanned fails the run, and only failure tasks go on. */
    private void failFast() {
        FailureRules rules = policy.failures();
        boolean strict = rules.run() == FailureMode.FAIL_FAST && rules.agent(null) == FailureMode.FAIL_FAST
                && rules.planner() == null;
        unless(!strict || rows.run.failing() || rows.tasksNow().stream().noneMatch(
                task -> task.state() == TaskState.FAILED && !task.failureIgnored()),
                "failed, and the run continues: %s",
                rows.tasksNow());
        unless(!rows.run.failing() || rows.tasksNow().stream().allMatch(this::mayFollowAFailure),
                "fail_fast left open: %s", rows.tasksNow());
    }

    private static boolean atWork(Saved.Task task) {
        return AT_WORK.contains(task.state()) && !task.isGroup();
    }

    private void inStep(Saved.Task task) {
        List<Saved.Step> busy = rows.stepsOf(task.id())
                .filter(step -> step.state() != StepState.PENDING && !step.state().terminal() && step.caller() == null)
                .toList();
        boolean beside = busy.stream().allMatch(step -> step.lane() > 0);
        int limit = task.spec().parallelSteps() ? policy.stepsPerTask() : beside ? CALLS : 1;
        unless(busy.size() <= limit, "%s at a time in %s", busy, task);
    }

    /** Whether it has ended, or exists for the case of a failure. */
    static boolean followsAFailure(RunRows rows, Saved.Task task) {
        TriggerRule rule = (task.groupId() == null ? task : rows.tasks.get(task.groupId())).spec().triggerRule();
        return task.state().terminal() || task.key().startsWith(".after") || rule == TriggerRule.ALWAYS
                || rule == TriggerRule.ALL_DONE;
    }

    /** Paid work finishes, too; {@code MoneyLaws} tells whether it is paid. */
    private boolean mayFollowAFailure(Saved.Task task) {
        return followsAFailure(rows, task) || task.startedAt() != null && policy.failures().run() != FailureMode.RETRY;
    }
}
