package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.TaskType;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.Signal;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * All facts about one run's current attempt that a decision may need, without outputs. Valid for exactly the {@link
 * RunRow#version} it was loaded at; discarded when a commit fails. Counters and queues that can be derived from the
 * rows are here and not in the database. Not thread-safe.
 */
public final class RunView {
    private static final int TEXT_PER_ROW = 512;

    final RunRow run;
    @Nullable Plan plan;
    final List<AgentRow> agents = new ArrayList<>();
    final Map<UUID, TaskRow> tasks = new LinkedHashMap<>();
    final Map<UUID, StepRow> steps = new HashMap<>();
    /** The attempt's artifacts by their unique names. */
    final Map<String, UUID> artifacts = new HashMap<>();
    /** Agents with ready tasks that wait for the limit of concurrent agents. */
    final Deque<AgentRow> waitingAgents = new ArrayDeque<>();
    /** Open tickets. */
    final Map<UUID, TicketRow> tickets = new LinkedHashMap<>();
    /** Pending proposals, each with its expiry, if any. */
    final Map<UUID, @Nullable Instant> proposals = new LinkedHashMap<>();
    /** Signals that no step has consumed, in order. */
    final List<Signal> signals = new ArrayList<>();
    /** All signals that the run has ever received: each counts once, however often it is sent. */
    final Set<UUID> signalsSeen = new HashSet<>();
    /** Child runs of all attempts, by the step that started them. */
    final Map<UUID, ChildRow> children = new HashMap<>();
    /** Budgets of tasks, by their ids in the plan; of all attempts. */
    final Map<String, TaskBudgetRow> budgets = new TreeMap<>();
    /** Versions of workers that the run stays with, by tool; of all attempts. */
    final Map<String, String> versions = new HashMap<>();
    /** The undo of the run; null if absent. */
    @Nullable UndoRow undo;
    /** Approvals of questions that require several people. */
    final List<VoteRow> votes = new ArrayList<>();
    final List<EngineOutage> outages = new ArrayList<>();
    final CallWindow calls;
    /** The task that must complete before any other begins; null if absent. */
    @Nullable TaskRow beforeHook;
    /** The task that runs when all others have ended; null if absent. */
    @Nullable TaskRow afterHook;
    /** True while the evaluator checks a planner's plan. */
    boolean evaluatingPlan;
    /** When the timer of all timeouts is due; null when it is not known to be armed. */
    @Nullable Instant watchDue;
    /** When it starts by itself; null when it has started or waits for a request. */
    @Nullable Instant startDue;
    /** Time of its creation; null in a view that was loaded. */
    @Nullable Instant createdAt;
    /** Tasks, groups aside, that have begun and not ended, and how many of these only wait. */
    int tasksBegun;
    int tasksWaiting;
    /** Tasks that are worked on or examined; without groups and the engine's own tasks. */
    final NavigableSet<TaskRow> tasksAtWork = new TreeSet<>(TaskRow.BY_PLAN);
    /** Agents with a task that holds a slot; changes with the slots only. */
    int agentsAtWork;
    int tasksOpen;
    /** The sum of all steps' holds and of their requests'; only {@link Holds} and {@link Requests} change it. */
    BigDecimal held = Amounts.ZERO;
    /** Number of steps with a worst case. */
    int worstCases;
    /** Number of steps that wait until the limits pay a request of their program. */
    int refused;
    /** True while the evaluator computes the run's output. */
    boolean evaluatingOutput;

    /** @param plan null while no command can need it (a run whose tasks exist) */
    public RunView(RunRow run, @Nullable Plan plan) {
        this.run = run;
        this.plan = plan;
        this.calls = new CallWindow(run.policy().failures().escalation().window());
    }

    public RunRow run() {
        return run;
    }

    public Collection<TaskRow> tasks() {
        return tasks.values();
    }

    public List<AgentRow> agents() {
        return agents;
    }

    public @Nullable StepRow step(UUID id) {
        return steps.get(id);
    }

    public @Nullable TaskRow task(UUID id) {
        return tasks.get(id);
    }

    /** Memory use of the view, in rows; a fixed number of characters of a plan or an input counts as one more row. */
    public int weight() {
        long kept = signals.stream().mapToLong(signal -> signal.payload().length()).sum();
        long inputs = steps.values().stream().mapToLong(step -> step.spec().input().length()).sum();
        if (plan != null && steps.isEmpty()) {
            inputs = plan.tasks().stream().flatMap(task -> task.steps().stream())
                    .mapToLong(step -> step.input().length()).sum();
        }
        return 1 + tasks.size() + steps.size() + (int) ((inputs + kept) / TEXT_PER_ROW);
    }

    /** The recent calls; the loader of views adds those from before. */
    public CallWindow calls() {
        return calls;
    }

    /** Open tickets. */
    public Collection<TicketRow> tickets() {
        return tickets.values();
    }

    /** Adds an open ticket; for the loader of views. */
    public void add(TicketRow ticket) {
        tickets.put(ticket.id(), ticket);
    }

    /** Adds a pending proposal; for the loader of views. */
    public void propose(UUID proposal, @Nullable Instant expires) {
        proposals.put(proposal, expires);
    }

    /** Adds a signal that no step has consumed, in order. */
    public void add(Signal signal) {
        signalsSeen.add(signal.id());
        signals.add(signal);
    }

    /** Adds a child run; for the loader of views. */
    public void add(ChildRow child) {
        children.put(child.stepId(), child);
    }

    /** Adds the undo of the run; for the loader of views. */
    public void add(UndoRow of) {
        undo = of;
    }

    /** Adds a vote, oldest first; for the loader of views. */
    public void add(VoteRow vote) {
        votes.add(vote);
    }

    /** Approvals of questions that require several people, oldest first. */
    public List<VoteRow> votes() {
        return List.copyOf(votes);
    }

    /** Time of its creation; null in a view that was loaded. */
    public @Nullable Instant createdAt() {
        return createdAt;
    }

    /** True for a run without a parent, child runs, open tickets, budgets of tasks and an undo. */
    public boolean standsAlone() {
        return run.parent() == null && children.isEmpty() && tickets.isEmpty() && budgets.isEmpty() && undo == null;
    }

    /** The undo of the run; null if absent. */
    public @Nullable UndoRow undo() {
        return undo;
    }

    /** Adds a task's budget; for the loader of views. */
    public void add(TaskBudgetRow budget) {
        budgets.put(budget.task(), budget);
    }

    /** Adds the version of workers that the run stays with for a tool; for the loader of views. */
    public void pin(String tool, String version) {
        versions.put(tool, version);
    }

    /** The versions of workers that the run stays with, by tool. */
    public Map<String, String> versions() {
        return Map.copyOf(versions);
    }

    /** Adds the id of a consumed signal. */
    public void addTakenSignal(UUID id) {
        signalsSeen.add(id);
    }

    /** Adds an outage of the engine since the run's creation; for the loader of views. */
    public void add(EngineOutage outage) {
        outages.add(outage);
    }

    Plan requirePlan() {
        return Objects.requireNonNull(plan, "the view was loaded without its plan");
    }

    /** Adds an agent, in order of its number. */
    public void add(AgentRow agent) {
        agents.add(agent);
    }

    /** Adds a task after its agent and, for a child, after its group; plan order. */
    public void add(TaskRow task) {
        tasks.put(task.id(), task);
        AgentRow agent = task.agent();
        agent.tasks++;
        if (task.system()) {
            beforeHook = task.spec().taskType() == TaskType.HOOK_BEFORE ? task : beforeHook;
            afterHook = task.spec().taskType() == TaskType.HOOK_AFTER ? task : afterHook;
        }
        if (hasBegun(task)) {
            tasksBegun++;
        }
        lookAtWork(task);
        TaskRow group = task.group();
        if (group != null) {
            group.children.add(task);
        }
        if (task.terminal()) {
            CompletionCounters.count(agent, task);
        } else {
            tasksOpen++;
            agent.tasksOpen++;
            if (group != null) {
                group.childrenOpen++;
            }
        }
    }

    /** Adds a step after its task, in order of position and turn. */
    public void add(StepRow step) {
        put(step);
        step.task().steps.add(step);
        if (step.kept != null) {
            held = held.add(step.kept.amount());
        }
    }

    /** Adds a step whose task has it. */
    void put(StepRow step) {
        if (steps.put(step.id(), step) == null) {
            worstCases += step.spec().worstCase() == null ? 0 : 1;
            refused += step.needed() == null ? 0 : 1;
        }
        StepRow caller = step.caller() == null ? null : steps.get(step.caller());
        if (caller != null) {
            caller.addCall(step);
        }
    }

    /** True for a task, not a group, that has begun and not ended. */
    static boolean hasBegun(TaskRow task) {
        return !task.isGroup() && task.state != TaskState.PENDING && !task.terminal();
    }

    /** Updates the tasks at work and the run's current task. */
    void lookAtWork(TaskRow task) {
        boolean is = switch (task.state) {
            case RUNNING, CONTINUING, VERIFYING, AWAITING_HUMAN -> !task.isGroup() && !task.system();
            case PENDING, QUEUED, ASSIGNED, AWAITING_RETRY, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
        };
        if (is ? tasksAtWork.add(task) : tasksAtWork.remove(task)) {
            run.currentTask = tasksAtWork.isEmpty() ? null : tasksAtWork.first().key();
        }
    }

    /** Updates whether the task only waits: for a person, a time, a signal or another run. */
    void lookAtWaits(TaskRow task) {
        boolean is = task.state == TaskState.AWAITING_HUMAN || task.parked()
                || (task.state == TaskState.RUNNING || task.state == TaskState.VERIFYING)
                        && onlyWaits(task.steps);
        if (is != task.waits) {
            task.waits = is;
            tasksWaiting += is ? 1 : -1;
        }
    }

    private static boolean onlyWaits(List<StepRow> steps) {
        boolean waits = false;
        for (StepRow step : steps) {
            if (step.state == StepState.WAITING && !step.queued || step.state == StepState.WAITING_APPROVAL
                    || step.parked()) {
                waits = true;
            } else if (!step.state.terminal()
                    && (step.state != StepState.PENDING || step.queued || step.evaluating)) {
                return false;
            }
        }
        return waits;
    }

    /** True while the whole run only waits: no step is queued, held or backing off. */
    boolean onlyWaits() {
        return run.gate == RunRow.Gate.ACCEPTANCE || tasksWaiting > 0 && tasksBegun == tasksWaiting + inLine()
                && agents.stream().noneMatch(agent -> agent.nextRunAt != null);
    }

    /** Number of tasks that wait for a slot, which tasks that only wait may hold. */
    private long inLine() {
        return agents.stream().flatMap(agent -> agent.ready.stream())
                .filter(task -> task.state == TaskState.QUEUED && !task.hasSlot).count();
    }

    /** Links a task to one of its upstreams; both must be added, with their states. */
    public void link(TaskRow task, TaskRow upstream) {
        task.upstreams.add(upstream);
        upstream.downstreams.add(task);
        if (upstream.terminal()) {
            CompletionCounters.countUpstream(task, upstream);
        } else {
            task.upstreamsOpen++;
        }
    }

    /** Clears the view for a new attempt. */
    void forgetAttempt() {
        agents.clear();
        tasks.clear();
        steps.clear();
        artifacts.clear();
        waitingAgents.clear();
        agentsAtWork = 0;
        tasksOpen = 0;
        held = Amounts.ZERO;
        worstCases = 0;
        refused = 0;
        evaluatingOutput = false;
        evaluatingPlan = false;
        tickets.clear();
        beforeHook = null;
        afterHook = null;
        tasksBegun = 0;
        tasksWaiting = 0;
        tasksAtWork.clear();
        run.currentTask = null;
    }

    public void addArtifact(String name, UUID stepId) {
        artifacts.put(name, stepId);
    }

    /**
     * Restores a row of the work queue: the lane's first open step is in it, under a lease when {@code holder} is set.
     *
     * @param hold of the lease; null if absent
     * @param lease of a worker; null if absent
     */
    public void restoreLane(UUID taskId, int lane, @Nullable String holder, @Nullable Hold hold,
            @Nullable LaneLease lease) {
        TaskRow task = Objects.requireNonNull(tasks.get(taskId));
        for (StepRow step : task.steps) {
            if (step.lane() == lane && !step.state.terminal()) {
                step.queued = true;
                step.holder = step.state == StepState.RUNNING ? holder : null;
                step.laneLease = step.isHeld() ? lease : null;
                if (step.isHeld() && hold != null) {
                    Metered metered = step.metered;
                    step.hold = metered == null || metered.epoch() != step.leaseEpoch ? hold
                            : hold.without(metered.reportedCost());
                    held = held.add(step.hold.amount());
                }
                return;
            }
        }
    }

    /** Restores a request of a step's program to a model that has not ended. */
    public void restoreRequest(UUID stepId, OpenRequest request) {
        StepRow step = steps.get(stepId);
        if (step != null) {
            step.add(request);
            held = held.add(request.held());
        }
    }

    /** Restores where the call of an open step is. A row of an ended step counts no more. */
    public void restoreCall(UUID stepId, CallRow call) {
        StepRow step = steps.get(stepId);
        if (step != null && !step.state.terminal()) {
            step.call = call;
        }
    }

    /** Restores the due time of the timer of all timeouts. */
    public void restoreWatch(Instant due) {
        watchDue = due;
    }

    /** Restores the time of the question about a task's output. Of other rows it follows from their columns. */
    public void restoreQuestion(UUID subject, Instant askedAt) {
        TaskRow task = tasks.get(subject);
        if (task != null) {
            task.askedAt = askedAt;
        }
    }

    /** Restores its start time. */
    public void restoreStart(Instant due) {
        startDue = due;
    }

    /** Restores an armed evaluation timer. */
    public void restoreEvaluation(TimerKind kind, UUID subject) {
        switch (kind) {
            case EVALUATE_GATE, EVALUATE_TASK_OUTPUT -> Objects.requireNonNull(tasks.get(subject)).evaluating = true;
            case EVALUATE_STEP -> Objects.requireNonNull(steps.get(subject)).evaluating = true;
            case EVALUATE_RUN_OUTPUT -> evaluatingOutput = true;
            case EVALUATE_PLAN -> evaluatingPlan = true;
            case STEP_RETRY, STEP_WAIT, TASK_CONTINUE, TASK_RETRY, AGENT_RETRY, RUN_RETRY, START, HUMAN, HEARTBEAT,
                    WATCH, EVALUATE_CHILD, EVALUATE_PARENT, EVALUATE_UNDO, EVALUATE_CHILD_UNDO ->
                {
                }
        }
    }

    /** Gives a task one of its agent's slots; the first one starts the agent. */
    void takeSlot(TaskRow task) {
        task.hasSlot = true;
        if (task.agent().slotsTaken++ == 0) {
            agentsAtWork++;
        }
    }

    /** Takes a task's slot from it; without slots the agent is no longer at work. */
    void leaveSlot(TaskRow task) {
        task.hasSlot = false;
        if (--task.agent().slotsTaken == 0) {
            agentsAtWork--;
        }
    }

    /** Derives slots and queues; for the loader of views, after all rows were added. */
    public void restoreSlots() {
        List<TaskRow> waiting = new ArrayList<>();
        for (TaskRow task : tasks.values()) {
            if (task.isGroup() || task.terminal()) {
                continue;
            }
            boolean released = task.steps.stream().anyMatch(s -> s.queued);
            if (task.state == TaskState.QUEUED && !released) {
                waiting.add(task);
            } else if (task.state != TaskState.PENDING && task.state != TaskState.AWAITING_RETRY
                    && task.state != TaskState.AWAITING_HUMAN) {
                takeSlot(task);
            }
        }
        waiting.sort(TaskRow.BY_TURN);
        waiting.forEach(task -> task.agent().ready.add(task));
        tasks.values().forEach(this::lookAtWaits);
        for (AgentRow agent : agents) {
            if (!agent.atWork() && !agent.ready.isEmpty()) {
                waitingAgents.add(agent);
            }
        }
    }

}
