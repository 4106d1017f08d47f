package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Concurrency;
import io.keelson.core.plan.Flow;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.CallGate;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Explanation;
import io.keelson.core.run.Seconds;
import io.keelson.core.run.SignalWait;
import io.keelson.core.run.SourceStep;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.VersionRule;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Why a run, a task or a step waits, read off a view: which upstream, timer, limit, person, lease or missing worker. */
public final class Explain {
    private static final int SHOWN = 100;
    /** Characters of a condition. */
    private static final int CONDITION = 300;
    private static final String CHOSEN = "AGENT_CHOSEN";
    private static final String BRANCH = "BRANCH";
    private static final String RUNNING = "RUNNING";

    private final RunView view;
    private final Surroundings around;
    private final List<Explanation> reasons = new ArrayList<>();

    private Explain(RunView view, Surroundings around) {
        this.view = view;
        this.around = around;
    }

    /** Facts that a view does not contain. */
    public interface Surroundings {
        /** Whether an executor or a recently active worker serves that tool. */
        boolean isServed(String tool);

        /** Whether a recently active worker of that version serves the tool. */
        boolean isServed(String tool, String version);

        /** The rule that gives the steps of a tool to versions of workers; null if absent. */
        @Nullable VersionRule version(String tool);

        /** When a lease expires unless extended; null when there is none. */
        @Nullable Instant leaseUntil(ChangeSet.Lane lane);

        /**
         * The reached limit that keeps this workspace from starting more with that tool, input and agent of the roster, as name
         * and value, such as {@code steps=20}; null while there is capacity.
         */
        @Nullable String full(String tool, String input, @Nullable String agent);

        /** The own name of a fan-out item; null for any other task. */
        @Nullable String label(UUID task);

        /** The branch that a task has chosen; null before that. */
        @Nullable String chosen(UUID task);

        /** The question of a waiting approval from its input; null if absent. */
        @Nullable String question(UUID step);

        /** The number of decisions for which the run that undoes one of the explained runs waits. */
        int questions(UUID undoRun);

        /** When a timer is due; null when it is not armed. */
        @Nullable Instant due(TimerKind kind, UUID subject);

        /** The actor who paused a paused run; null if no event names one. */
        @Nullable Pause paused(UUID run);

        /** Some of the runs of the workspace that are at work with that concurrency key, the earliest first. */
        List<UUID> atWork(String key);

        /** The time before which the run does not begin, by the rate of its concurrency key; null without a wait for it. */
        @Nullable Instant turn(UUID run);

        /** The prices in force, for a run or a step that limits have stopped. */
        Prices prices();
    }

    /**
     * @param by the name of the principal or part of the engine
     * @param reason as it was given; null if absent
     */
    public record Pause(String by, @Nullable String reason) {}

    /** The reasons of a whole run: its own, then the reasons of at most a hundred open tasks that could move. */
    public static List<Explanation> run(RunView view, Surroundings around) {
        Explain explain = new Explain(view, around);
        if (!explain.addRunReasons()) {
            explain.ticketsOfUndo();
            movable(view).limit(SHOWN).forEach(explain::task);
        }
        if (!view.run.state.terminal()) {
            explain.undo();
        }
        return explain.ordered();
    }

    /** The number of open tasks that could move, but whose reasons {@link #run} leaves out; 0 where the run itself waits. */
    public static int tasksLeftOut(RunView view, Surroundings around) {
        return new Explain(view, around).addRunReasons() ? 0 : (int) movable(view).skip(SHOWN).count();
    }

    private static Stream<TaskRow> movable(RunView view) {
        return view.tasks.values().stream()
                .filter(task -> !task.terminal() && (!task.isGroup() || task.nextRunAt != null))
                .filter(task -> task.state != TaskState.PENDING || task.upstreamsOpen == 0);
    }

    /** The reasons of one task: what holds up the run, if anything, then its own. */
    public static List<Explanation> task(RunView view, TaskRow task, Surroundings around) {
        Explain explain = new Explain(view, around);
        explain.addRunReasons();
        explain.task(task);
        explain.branch(task);
        return explain.ordered();
    }

    /** The reasons of one step: what holds up the run or its task, then its own. */
    public static List<Explanation> step(RunView view, StepRow step, Surroundings around) {
        Explain explain = new Explain(view, around);
        explain.addRunReasons();
        if (step.task().state != TaskState.RUNNING && step.task().state != TaskState.VERIFYING) {
            explain.task(step.task());
        }
        explain.step(step);
        return explain.ordered();
    }

    /**
     * Reasons in the order of discovery, then running work, then choices of agents: neither of these two delays the
     * run.
     */
    private List<Explanation> ordered() {
        return reasons.stream().sorted(Comparator.comparing(reason -> switch (reason.code()) {
            case CHOSEN, BRANCH -> 2;
            case RUNNING -> 1;
            default -> 0;
        })).toList();
    }

    /** Adds what holds up the whole run; true when there is something. */
    private boolean addRunReasons() {
        RunRow run = view.run;
        switch (run.state) {
            case CREATED -> notStarted();
            case PENDING -> {
                return turn(run);
            }
            case READY -> {
                return false;
            }
            case PLANNING -> {
                add("PLANNING", "its planner makes the plan", null);
                return false;
            }
            case RESUMING -> add("STARTING", "the run is being set up", null);
            case AWAITING_APPROVAL ->
                add("PLAN_APPROVAL", "a person has to approve the plan" + Votes.progress(view, run.id()),
                        around.due(TimerKind.HUMAN, run.id()));
            case PAUSED -> add("PAUSED", paused(around.paused(run.id())), null);
            case BUDGET_EXCEEDED -> {
                if (run.gate == RunRow.Gate.FINISHING) {
                    return gate(run);
                }
                budgets(run);
            }
            case RETRYING -> add("RUN_BACKOFF", backoffText(run.attempt,
                    Math.min(run.policy().maxAttempts(), run.policy().failures().runTries()))
                    + error(run.errorCode, run.errorMessage), around.due(TimerKind.RUN_RETRY, run.id()));
            case ESCALATED -> view.tickets.values().forEach(this::ticket);
            case RUNNING -> {
                return gate(run);
            }
            case COMPLETED, SKIPPED -> {
                List<Explanation> failures = IgnoredFailure.in(view).toList();
                add("ENDED", failures.isEmpty() ? "the run is " + run.state.wire()
                        : "the run completed with failures: " + failures.size(), null);
                undo();
                failures.stream().limit(SHOWN).forEach(reasons::add);
                view.tasks.values().stream().flatMap(task -> task.steps.stream())
                        .filter(step -> step.reusedFrom() != null).limit(SHOWN).forEach(this::resultReused);
            }
            case FAILED, CANCELLED -> {
                add("ENDED", "the run is " + run.state.wire() + error(run.errorCode, run.errorMessage), null);
                undo();
                view.tasks.values().stream().filter(task -> task.state == TaskState.FAILED)
                        .flatMap(task -> task.steps.stream())
                        .filter(step -> step.state == StepState.FAILED && !step.failureIgnored).limit(SHOWN)
                        .forEach(step -> add(step, "FAILED", "it failed" + error(step.errorCode, step.errorMessage),
                                null,
                                List.of()));
            }
        }
        return true;
    }

    /** Adds the progress of the undo of an ended run. */
    private void undo() {
        UndoRow undo = view.undo;
        if (undo != null) {
            reasons.add(new Explanation("UNDO", undo.text(view.run.state.terminal(),
                    undo.undoRun() == null ? 0 : around.questions(undo.undoRun())), null, null, null,
                    undo.undoRun() == null ? List.of() : List.of(undo.undoRun().toString())));
        }
    }

    /** Adds all tickets of an undo, though they do not hold it up yet. */
    private void ticketsOfUndo() {
        if (isUndo()) {
            view.tickets.values().forEach(this::ticket);
        }
    }

    private boolean isUndo() {
        return view.run.policy().undo().undoes() != null;
    }

    private static String error(@Nullable String code, @Nullable String message) {
        return (code == null ? "" : ": " + code) + (message == null ? "" : ": " + message);
    }

    private void notStarted() {
        if (view.startDue == null) {
            add("NOT_STARTED", "the run was accepted and waits to be started", null);
        } else {
            add("STARTS_LATER", "the run starts by itself at its time, or as soon as its workspace can pay for it then",
                    view.startDue);
        }
    }

    private static String paused(@Nullable Pause pause) {
        return (pause == null ? "the run is paused"
                : "the run was paused by " + pause.by() + (pause.reason() == null ? "" : ": " + pause.reason()))
                + "; work in flight may finish";
    }

    /** Adds the wait for a concurrency key; without a key only the tasks have reasons. */
    private boolean turn(RunRow run) {
        Concurrency turn = run.policy().concurrency();
        if (turn != null) {
            List<String> on = new ArrayList<>(List.of(turn.key()));
            Instant at = turn.rate() == null ? null : around.turn(run.id());
            if (turn.rate() != null && at != null) {
                reasons.add(new Explanation("CONCURRENCY_KEY", "it waits for its turn: at most " + turn.rate().limit()
                        + (turn.rate().limit() == 1 ? " run" : " runs") + " with the concurrency key '" + turn.key()
                        + "' begin in " + turn.rate().periodSeconds() + " s, and by those before it, it begins at " + at
                        + " at the earliest", null, null, at, on));
                return true;
            }
            around.atWork(turn.key()).forEach(ahead -> on.add(ahead.toString()));
            reasons.add(new Explanation("CONCURRENCY_KEY",
                    "it waits for its turn: at most " + turn.limit() + (turn.limit() == 1 ? " run" : " runs")
                            + " with the concurrency key '" + turn.key() + "' may be at work, and others came first",
                    null, null, null, on));
        }
        return turn != null;
    }

    /** Adds the budgets of tasks that stopped the run; else the run's own. */
    private void budgets(RunRow run) {
        List<TaskBudgetRow> tasks = TaskBudgets.stopping(view);
        tasks.forEach(budget -> {
            BigDecimal used = HardLimit.usedCredits(view, budget);
            BigDecimal next = LimitStop.needed(view, around.prices(), task -> HardLimit.of(budget.task(), task));
            BigDecimal needed = LimitStop.leastBudget(view, around.prices(), budget);
            reasons.add(stopped(
                    TaskBudgets.text(view, budget)
                            + next("its " + LimitStop.nextCost(view, task -> HardLimit.of(budget.task(), task)),
                                    next, budget.limit().subtract(used))
                            + "; raise its budget to " + Amounts.text(needed) + " or more, or cancel the run",
                    List.of(budget.task()), needed));
        });
        if (tasks.isEmpty()) {
            budget(run);
        }
    }

    /** Whether its own limit stopped it, instead of missing credits. */
    private void budget(RunRow run) {
        BigDecimal limit = HardLimit.limit(run);
        BigDecimal children = HardLimit.childrenTake(view);
        BigDecimal taken = HardLimit.usedCredits(run).add(children);
        boolean reached = limit != null && taken.compareTo(limit) >= 0;
        String cost = "it has cost " + Amounts.credits(HardLimit.usedCredits(run))
                + (children.signum() == 0 ? "" : " beside " + Amounts.text(children) + " of the runs that it started");
        BigDecimal needed = LimitStop.leastLimit(view, around.prices());
        boolean leaves = limit != null && needed.compareTo(limit) <= 0 && view.held.signum() == 0
                && !ChildLinks.open(view);
        if (limit == null || leaves
                || !reached && run.uncollected.signum() > 0 && Credits.usedCredits(run).compareTo(run.reserved) == 0) {
            reasons.add(stopped(cost
                    + " and the workspace has no more of them, or none that its limit of the month leaves; grant some or raise that limit,"
                    + " and resume it, or cancel it", List.of(), null));
            return;
        }
        String allowed = cost + " of the " + Amounts.text(limit) + " that its limit allows";
        if (view.tasksOpen == 0) {
            reasons.add(stopped(allowed + "; nothing is left to pay: `keelson budget " + run.id() + " --hard-limit "
                    + Amounts.text(needed) + "` ends it without a further charge", List.of(), needed));
            return;
        }
        BigDecimal next = LimitStop.needed(view, around.prices(), task -> true);
        reasons.add(stopped(allowed
                + next("the " + LimitStop.nextCost(view, task -> true), next,
                        limit.subtract(taken))
                + "; raise its limit to "
                + Amounts.text(needed) + " or more, or cancel it", List.of(), needed));
    }

    private static Explanation stopped(String text, List<String> on, @Nullable BigDecimal needed) {
        return new Explanation("BUDGET_EXCEEDED", text, null, null, null, on, needed);
    }

    /**
     * The possible cost of a further step, and its excess over the rest; nothing where it has no known cost.
     *
     * @param name of the step, or of a program's request
     * @param needed for the step, in credits; 0 where no price says it, null where no step is ready
     * @param rest of the limit, in credits
     */
    private static String next(String name, @Nullable BigDecimal needed, BigDecimal rest) {
        if (needed == null || needed.signum() == 0) {
            return "";
        }
        BigDecimal missing = needed.subtract(rest);
        return ", and " + name + " may cost " + Amounts.text(needed)
                + (missing.signum() > 0 ? ", " + Amounts.text(missing) + " more than is left" : "");
    }

    private boolean gate(RunRow run) {
        switch (run.gate) {
            case NONE -> {
                if (view.evaluatingOutput) {
                    add("OUTPUT_EVALUATING", "the run's output is being put together", null);
                }
                return view.evaluatingOutput;
            }
            case REPLANNING, REPLAN_APPROVED -> {
                add("REPLANNING", "a new plan is being made; nothing of the old one is begun", null);
                return false;
            }
            case FINISHING -> {
                add("FINISHING", "a person has decided that it ends with what runs now; nothing else is begun", null);
                return false;
            }
            case ACCEPTANCE ->
                add("RESULT_ACCEPTANCE", "a person has to accept the result" + Votes.progress(view, run.id()),
                        around.due(TimerKind.HUMAN, run.id()));
        }
        return true;
    }

    /** Adds a question once, though it holds up the run as well as its tasks or steps. */
    private void ticket(TicketRow ticket) {
        if (reasons.stream().anyMatch(reason -> reason.on().contains(ticket.id().toString()))) {
            return;
        }
        List<TicketRow> alike = Alike.of(view, ticket);
        boolean one = alike.size() == 1;
        String why = TicketRow.words(ticket.reason());
        reasons.add(new Explanation("TICKET_OPEN",
                (one ? ticket.message() : alike.size() + " steps or tasks failed alike, the first: " + ticket.message())
                        + (why == null ? "" : "; " + why)
                        + (isUndo() && view.run.state == RunState.RUNNING ? "; the other tasks of the undo continue"
                                : ""),
                one ? ticket.taskId() : null, one ? ticket.stepId() : null,
                around.due(TimerKind.HUMAN, ticket.id()), alike.stream().map(each -> each.id().toString()).toList()));
    }

    private void task(TaskRow task) {
        AgentTerms terms = Rungs.terms(task);
        if (terms != null && terms.slug() != null && !task.terminal()) {
            add(task, CHOSEN, "its agent is '" + terms.slug() + "', " + (terms.candidates().isEmpty()
                    ? "as the plan says"
                    : AgentTerms.CONTRACTOR.equals(terms.type()) ? "for no agent of the roster scored enough"
                            : "for it scored best")
                    + ", and "
                    + (terms.runsOn() == RunsOn.SERVER
                            ? "a server takes its turns with the model '" + terms.model() + "'"
                            : "workers take its turns"),
                    null, terms.candidates());
        }
        switch (task.state) {
            case PENDING -> pending(task);
            case QUEUED -> queued(task);
            case AWAITING_RETRY -> {
                if (task.parked()) {
                    view.tickets.values().stream().filter(t -> Objects.equals(t.taskId(), task.id()))
                            .forEach(this::ticket);
                } else {
                    add(task, "TASK_BACKOFF",
                            backoffText(task.attempt + 1, retries(task).maxAttempts() + task.grantedRetries)
                                    + error(task.errorCode, task.errorMessage),
                            task.nextRunAt, List.of());
                    deadline(task, task.nextRunAt);
                }
            }
            case AWAITING_HUMAN ->
                add(task, "TASK_REVIEW", "a person has to judge the output" + Votes.progress(view, task.id()),
                        around.due(TimerKind.HUMAN, task.id()), List.of());
            case CONTINUING -> add(task, "NEXT_TURN", "its next turn begins in a moment",
                    around.due(TimerKind.TASK_CONTINUE, task.id()), List.of());
            case ASSIGNED, RUNNING, VERIFYING -> {
                if (task.evaluating) {
                    add(task, "OUTPUT_EVALUATING", "its output is being put together", null, List.of());
                } else if (task.nextRunAt != null) {
                    add(task, "NEXT_ROUND", "round " + (task.round() + 1) + " begins after its delay", task.nextRunAt,
                            List.of());
                } else if (task.isLoop()) {
                    add(task, "ROUND_OPEN", "round " + task.round() + " has not ended", null, List.of());
                } else if (task.isGroup()) {
                    add(task, "CHILDREN_OPEN", task.childrenOpen + " of its tasks are open", null, List.of());
                }
                task.steps.stream().filter(step -> !step.state.terminal())
                        .filter(step -> step.state != StepState.PENDING || step.queued || step.evaluating)
                        .forEach(this::step);
                if (!task.isGroup() && task.steps.stream().noneMatch(step -> step.queued)) {
                    task.steps.stream().filter(step -> !step.state.terminal()).limit(1)
                            .filter(step -> step.state == StepState.PENDING && waitsForHolds(step))
                            .forEach(this::creditsHeld);
                }
            }
            case COMPLETED, FAILED, CANCELLED, SKIPPED -> {
                add(task, "ENDED", "the task is " + task.state.wire() + rounds(task) + because(task.errorCode), null,
                        List.of());
                task.steps.forEach(this::resultReused);
            }
        }
    }

    /** The last round of a task with rounds. */
    private static String rounds(TaskRow task) {
        Repeat repeat = task.spec().policy().repeat();
        return repeat == null || task.round() == 0 ? ""
                : " after round " + task.round() + " of at most " + repeat.max();
    }

    /**
     * The task that chooses the innermost branch around a task: the task itself if it chooses, and the chooser of a switch for the
     * task that ends the switch; null without one.
     */
    public static @Nullable TaskRow chooser(RunView view, TaskRow task) {
        Flow flow = task.spec().policy().flow();
        if (flow != null && flow.chooses() != null) {
            return task;
        }
        TaskRow own = chooser(view, task.key());
        Flow.Place place = flow == null ? null : flow.branch();
        return own != null || place == null ? own : chooser(view, place.of());
    }

    private static @Nullable TaskRow chooser(RunView view, String of) {
        return view.tasks.values().stream().filter(each -> each.key().equals(Flow.chooser(of))).findFirst()
                .orElse(null);
    }

    /** Adds the branch that contains a task, or that it has chosen. */
    private void branch(TaskRow task) {
        TaskRow chooser = chooser(view, task);
        Flow flow = task.spec().policy().flow();
        if (chooser != null) {
            boolean own = chooser == task || chooser.key().equals(Flow.chooser(task.key()));
            Flow.Place place = own || flow == null ? null : flow.branch();
            branch(task, chooser, place == null ? null : place.branch());
        }
    }

    /** @param own the branch that contains the task; null for the task that chooses */
    private void branch(TaskRow task, TaskRow chooser, @Nullable String own) {
        Flow flow = chooser.spec().policy().flow();
        if (flow == null || flow.chooses() == null) {
            return;
        }
        String of = "switch '" + flow.chooses() + "'";
        String chosen = chooser.state == TaskState.COMPLETED ? around.chosen(chooser.id()) : null;
        String choice = chooser.state != TaskState.COMPLETED ? of + " has not chosen a branch"
                : chosen == null ? "no condition of " + of + " holds"
                        : of + " chose branch '" + chosen + "'" + condition(flow, chosen);
        boolean other = own != null && chooser.state == TaskState.COMPLETED && !own.equals(chosen);
        add(task, other ? "BRANCH_NOT_CHOSEN" : BRANCH,
                (own == null ? "" : "it is in branch '" + own + "' of " + of + condition(flow, own) + "; ") + choice,
                null, List.of(chooser.key()));
    }

    private static String shown(String condition) {
        return condition.length() <= CONDITION ? condition : condition.substring(0, CONDITION) + "…";
    }

    /** The condition of a branch in words, with a comma before it. */
    private static String condition(Flow flow, String branch) {
        return flow.branches().stream().filter(each -> each.name().equals(branch)).findFirst()
                .map(each -> each.when() == null ? ", done if no condition holds"
                        : ", done if " + shown(each.when().replaceAll("\\s+", " ")))
                .orElse("");
    }

    /** @param most maximum attempts, without attempts that a restart has granted */
    private static String backoffText(int attempt, int most) {
        return "backoff before attempt " + attempt + (attempt <= most ? " of " + most : "");
    }

    private RetryPolicy retries(TaskRow task) {
        return Objects.requireNonNullElse(task.spec().policy().retry(), view.run.policy().failures().task());
    }

    private static String because(@Nullable String code) {
        return code == null ? "" : ": " + code;
    }

    private void pending(TaskRow task) {
        TaskRow hook = view.beforeHook;
        if (task.upstreamsOpen > 0 && task.spec().triggerRule() != TriggerRule.ALWAYS) {
            List<String> open = task.upstreams.stream().filter(up -> !up.terminal()).map(TaskRow::key).toList();
            add(task, "UPSTREAM_OPEN", "upstreams have not ended: " + keysText(open), null, open);
        } else if (task.group() != null && task.group().state() == TaskState.PENDING) {
            add(task, "UPSTREAM_OPEN", "its group has not begun", null, List.of(task.group().key()));
        } else if (task == view.afterHook) {
            add(task, "UPSTREAM_OPEN", "it runs when everything else has ended", null, List.of());
        } else if (hook != null && !hook.terminal() && !task.system()) {
            add(task, "HOOK_OPEN", "the run's first hook has not ended", null, List.of(hook.key()));
        } else if (task.agent().nextRunAt != null) {
            add(task, "AGENT_BACKOFF", "its agent starts over after its backoff", task.agent().nextRunAt, List.of());
        } else if (task.evaluating) {
            add(task, "CONDITION_EVALUATING", "its condition is being evaluated", null, List.of());
        }
    }

    /** True when holds of other steps may keep it from beginning. */
    private boolean waitsForHolds(StepRow step) {
        return (step.spec().worstCase() != null || step.needed() != null) && view.held.signum() > 0 && !step.queued
                && !step.evaluating;
    }

    private void creditsHeld(StepRow step) {
        add(step, "CREDITS_HELD", "what it may cost does not fit beside the " + Amounts.credits(view.held)
                + " held for steps in flight; it begins when one of those has ended", null, List.of());
    }

    /** A limit has refused a request of its program: the least limit pays it and the steps in flight. */
    private void refused(StepRow step, BigDecimal request) {
        Prices prices = around.prices();
        BigDecimal again = Holds.againCost(prices, step.spec(), request);
        BigDecimal used = HardLimit.usedCredits(view.run).add(HardLimit.childrenTake(view));
        BigDecimal limit = HardLimit.limit(view.run);
        BigDecimal least = Amounts.ceiling(used.add(HardLimit.out(view, prices, each -> true)).add(again));
        String task = step.task().planKey();
        TaskBudgetRow budget = view.budgets.get(task);
        BigDecimal ofTask = budget == null ? Amounts.ZERO
                : Amounts.ceiling(HardLimit.usedCredits(view, budget)
                        .add(HardLimit.out(view, prices, each -> HardLimit.of(task, each.task()))).add(again));
        if (limit != null && least.compareTo(limit) > 0 && used.add(again).compareTo(limit) <= 0) {
            creditsHeld(step);
        } else if (limit != null && least.compareTo(limit) > 0) {
            refused(step, request, "raise the limit with `keelson budget " + view.run.id() + " --hard-limit "
                    + Amounts.text(least) + "` or more", least);
        } else if (budget != null && ofTask.compareTo(budget.limit()) > 0) {
            refused(step, request, "raise the budget of its task with `keelson budget " + view.run.id() + " --task "
                    + task + "=" + Amounts.text(ofTask) + "` or more", ofTask);
        } else {
            refused(step, request, "grant credits with `keelson credits grant AMOUNT`, or raise the workspace's limit"
                    + " of the month", null);
        }
    }

    private void refused(StepRow step, BigDecimal request, String remedy, @Nullable BigDecimal least) {
        reasons.add(new Explanation("BUDGET_EXCEEDED",
                name(step) + "a limit has refused a request of its program, which"
                        + " may cost " + Amounts.credits(request) + ": " + remedy,
                step.task().id(), step.id(), null, List.of(),
                least));
    }

    private void queued(TaskRow task) {
        AgentRow agent = task.agent();
        String name = Objects.requireNonNullElse(agent.name(), "the default agent");
        if (task.hasSlot) {
            task.steps.stream().filter(step -> step.queued).forEach(this::step);
        } else if (agent.slotsTaken < SlotScheduling.limit(view.run, agent) && task.steps.stream().limit(1)
                .anyMatch(this::waitsForHolds)) {
            creditsHeld(task.steps.getFirst());
        } else if (!agent.atWork() && view.agentsAtWork >= view.run.policy().maxAgents()) {
            add(task, "AGENTS_LIMIT", "so many agents of the run are at work that " + name + " has to wait (limit "
                    + view.run.policy().maxAgents() + ")", null, List.of(name));
        } else {
            add(task, "TASKS_LIMIT", name + " has all its places taken (" + agent.slotsTaken + ")", null,
                    List.of(name));
        }
    }

    private static String missing(StepRow step, String tool) {
        if (SystemTasks.plans(step.task())) {
            return "it waits for a worker that serves the planning tool '" + tool + "'; none has sent a request lately";
        }
        return "no worker that serves '" + tool + "' has sent a request lately" + (tool.equals(RunsOn.WORKERS.tool())
                ? "; a server takes only the turns of agents of the roster that have one of its models"
                : "");
    }

    private void missingVersion(StepRow step, String tool, VersionRule rule) {
        String version = Versions.target(view, tool, rule);
        String why = view.versions.containsKey(tool) ? "with which the run began"
                : version.equals(rule.ramping()) ? "which is ramping" : "which is the current one";
        add(step, "MISSING_VERSION", "no worker that serves '" + tool + "' in version '" + version + "', " + why
                + ", has sent a request lately; workers of other versions get no step of it", null,
                List.of(tool, version));
    }

    private void resultAwaited(StepRow step) {
        SourceStep other = Objects.requireNonNull(SourceStep.of(step.deferredFor));
        Instant until = Objects.requireNonNull(step.deferredSince).plus(SlotScheduling.timeout(view.run, step));
        add(step, "RESULT_COMPUTING", "step " + other.step() + " of run " + other.run()
                + " computes the same result; it waits for that one, and then computes the result itself", until,
                List.of(other.run().toString(), other.step().toString()));
    }

    /** Adds the source of a result that a step has taken over; nothing for any other step. */
    private void resultReused(StepRow step) {
        SourceStep other = step.reusedFrom();
        if (other != null) {
            add(step, "RESULT_REUSED", "it has taken over the result of step " + other.step() + " of run " + other.run()
                    + ", at no cost", null, List.of(other.run().toString(), other.step().toString()));
        }
    }

    private void step(StepRow step) {
        String tool = step.spec().tool();
        boolean served = !step.queued || step.isHeld() || around.isServed(tool);
        VersionRule rule = served && step.queued && !step.isHeld() ? around.version(tool) : null;
        if (!served) {
            add(step, "MISSING_WORKER", missing(step, tool), null, List.of(tool));
        } else if (rule != null && !around.isServed(tool, Versions.target(view, tool, rule))) {
            served = false;
            missingVersion(step, tool, rule);
        }
        switch (step.state) {
            case PENDING -> {
                if (step.queued) {
                    unclaimed(step, served);
                } else if (step.evaluating && step.asks()) {
                    add(step, "CONDITION_EVALUATING", "the condition of its approval is being evaluated", null,
                            List.of());
                } else if (step.awaitsResult()) {
                    resultAwaited(step);
                } else if (step.evaluating) {
                    add(step, "INPUT_EVALUATING", "its input is being resolved", null, List.of());
                } else if (step.lane() > 0) {
                    add(step, "STEPS_LIMIT", "so many steps of its task are under way that it has to wait (limit "
                            + SlotScheduling.lanes(view.run, step.task()) + ")", null, List.of());
                } else {
                    add(step, "EARLIER_STEP", "an earlier step of its task has not ended", null, List.of());
                }
            }
            case RUNNING -> {
                if (step.isHeld()) {
                    add(step, RUNNING, "'" + step.holder + "' is at it, under a lease of epoch " + step.leaseEpoch,
                            around.leaseUntil(new ChangeSet.Lane(step.task().id(), step.lane())),
                            List.of(Objects.requireNonNull(step.holder)));
                } else if (step.deferred()) {
                    deferred(step);
                } else if (step.needed() != null && !step.queued) {
                    refused(step, step.needed());
                } else if (waitsForHolds(step)) {
                    creditsHeld(step);
                } else {
                    unclaimed(step, served);
                }
            }
            case AWAITING_RETRY -> {
                if (step.parked()) {
                    view.tickets.values().stream().filter(t -> Objects.equals(t.stepId(), step.id()))
                            .forEach(this::ticket);
                } else {
                    add(step, "STEP_BACKOFF", backoffText(step.attempt + 1,
                            step.spec().retry().maxAttempts() + step.grantedRetries)
                            + error(step.errorCode, step.errorMessage), step.nextRunAt, List.of());
                    deadline(step.task(), step.nextRunAt);
                }
            }
            case WAITING -> {
                SignalWait signalWait = step.signalWait;
                ChildRow child = view.children.get(step.id());
                if (step.waitsForCalls() && step.queued) {
                    unclaimed(step, served);
                } else if (step.waitsForCalls()) {
                    add(step, "CALL_OPEN", "its program is ended and is started again when a call of it has ended",
                            null,
                            step.calls.stream().filter(call -> !call.state.terminal()).map(StepRow::name).toList());
                } else if (child != null) {
                    add(step, "CHILD_RUN", "it waits for the run that it has started", step.nextRunAt,
                            List.of(child.runId().toString()));
                } else if (step.spec().undoesRun()) {
                    add(step, "CHILD_RUN", "it waits until the run that the original has started is undone", null,
                            List.of(String.valueOf(ChildUndos.childOf(step))));
                } else if (signalWait == null) {
                    add(step, "TIMER", "it waits for its time", step.nextRunAt, List.of());
                } else {
                    add(step, "SIGNAL", "it waits for the signal '" + signalWait.signal() + "'", step.nextRunAt,
                            List.of(signalWait.signal()));
                }
                deadline(step.task(), step.nextRunAt);
            }
            case WAITING_APPROVAL -> add(step, "APPROVAL", "a person has to decide"
                    + (step.gate == null ? questionText(step)
                            : step.caller() != null && step.question() ? ": the program of its step asks"
                                    : because(step.gate))
                    + Votes.progress(view, step.id()),
                    around.due(TimerKind.HUMAN, step.id()), List.of());
            case COMPLETED, FAILED, CANCELLED, SKIPPED -> {
                addRefusal(step);
                resultReused(step);
                add(step, "ENDED", "the step is " + step.state.wire() + because(step.errorCode), null, List.of());
            }
        }
    }

    private String questionText(StepRow step) {
        String question = around.question(step.id());
        return question == null ? "" : ": " + question;
    }

    /** Adds which level's rule has refused the call's tool, where that is why it was not executed. */
    private void addRefusal(StepRow step) {
        AgentTerms terms = Rungs.terms(step.task());
        ToolPolicy.Level level = terms == null ? null : terms.refusedBy(step.spec().tool());
        if (AgentTurns.REFUSED.equals(step.errorCode) && level != null) {
            add(step, "TOOL_REFUSED_BY", "its tool '" + step.spec().tool() + "' is refused by "
                    + (level == ToolPolicy.Level.AGENT ? "the agent's list of tools" : "a rule of the " + level.wire()),
                    null, List.of(level.wire()));
        }
    }

    private static String because(@Nullable CallGate gate) {
        return gate == null ? "" : switch (gate.reason()) {
            case QUESTION -> ": the agent asks";
            case ALWAYS -> ": a rule of the agent asks about each call of this tool";
            case DESTRUCTIVE -> ": the tool may change or delete what exists";
            case TAINTED -> ": the agent has seen data from outside (" + gate.detail() + ")";
            case CONDITION -> ": this condition holds for the input: " + gate.detail();
            case CONDITION_FAILED -> ": the condition cannot be evaluated: " + gate.detail();
            case CONDITION_FALSE -> throw new IllegalStateException(gate.text());
        };
    }

    private void deferred(StepRow step) {
        String busy = step.deferredFor;
        if (busy != null && busy.startsWith(Deferral.INBOX)) {
            add(step, "QUESTION", "its tool asks a person, see item " + busy.substring(Deferral.INBOX.length())
                    + " of the inbox", null, List.of(busy));
            return;
        }
        if (busy != null && busy.startsWith(Deferral.MODEL)) {
            add(step, "MODEL_BUSY", "its model '" + busy.substring(Deferral.MODEL.length())
                    + "' is busy or out of order, and it is sent again then", step.nextRunAt, List.of(busy));
        } else {
            add(step, "DEFERRED", (busy == null ? "a system that it needs" : "'" + busy + "'")
                    + " is busy or out of order, and it is tried again then", step.nextRunAt,
                    busy == null ? List.of() : List.of(busy));
        }
        deadline(step.task(), step.nextRunAt);
    }

    /** @param served whether a worker or the server serves its tool; if not, that is explained */
    private void unclaimed(StepRow step, boolean served) {
        String full =
                step.isHeld() ? null : around.full(step.spec().tool(), step.spec().input(), Rungs.agent(step.task()));
        if (full != null) {
            add(step, "WORKSPACE_LIMIT", "its workspace is at a limit (" + full + ")", null,
                    List.of(full));
            return;
        }
        if (served) {
            add(step, "QUEUED", (step.isLost() ? "its worker sent nothing more, and it waits to be claimed again for '"
                    : "it is ready and waits to be claimed for '") + step.spec().tool() + "'", null,
                    List.of(step.spec().tool()));
        }
    }

    /** Adds the deadline that comes before the awaited event, if there is one; each once. */
    private void deadline(TaskRow task, @Nullable Instant awaited) {
        Deadline first = Deadline.first(view, task);
        if (first == null || awaited == null || !first.at().isBefore(awaited)
                || reasons.stream()
                        .anyMatch(reason -> reason.code().equals("DEADLINE") && reason.on().contains(first.of()))) {
            return;
        }
        reasons.add(new Explanation("DEADLINE", first.of() + " runs out of its time of " + Seconds.of(first.limit())
                + " before that", task.id(), null, first.at(), List.of(first.of())));
    }

    private void add(String code, String text, @Nullable Instant until) {
        reasons.add(new Explanation(code, text, null, null, until, List.of()));
    }

    private void add(TaskRow task, String code, String text, @Nullable Instant until, List<String> on) {
        reasons.add(new Explanation(code, "task '" + task.key() + "'" + label(task) + ": " + text, task.id(), null,
                until, on));
    }

    private void add(StepRow step, String code, String text, @Nullable Instant until, List<String> on) {
        reasons.add(new Explanation(code, name(step) + text, step.task().id(), step.id(), until, on));
    }

    private String name(StepRow step) {
        return "step '" + step.task().key() + "/" + step.name() + "'" + label(step.task()) + ": ";
    }

    /** The item's name in brackets after the key. */
    private String label(TaskRow task) {
        String label = around.label(task.id());
        return label == null ? "" : " (" + label + ")";
    }

    private static String keysText(List<String> keys) {
        return keys.size() <= 10 ? String.join(", ", keys)
                : String.join(", ", keys.subList(0, 10)) + " and " + (keys.size() - 10) + " more";
    }
}
