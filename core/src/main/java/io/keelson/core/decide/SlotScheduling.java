package io.keelson.core.decide;

import io.keelson.core.decide.ChangeSet.Given;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.LocalCapacity.RemoteSlot;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.run.AgentPayload;
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Dispatches ready work under three limits: agents at work per run, tasks per agent, steps per task. A task keeps its
 * slot through all its steps. Its steps run in lanes, each a row of the work queue.
 */
final class SlotScheduling {
    /** The calls of an agent's turn that run at a time. */
    private static final int CALLS = 3;

    private SlotScheduling() {}

    /** A task has become {@code queued}: it takes a slot of its agent if one is free, else waits for one. */
    static void ready(Decision d, TaskRow task) {
        task.agent().ready.add(task);
        fill(d, task.agent());
    }

    /** Gives an agent's free slots to its ready tasks, as far as the run's limit of agents at work allows. */
    static void fill(Decision d, AgentRow agent) {
        dropEnded(agent);
        if (!d.atWork() || agent.ready.isEmpty() || heldBack(d, agent) || !room(d, agent)) {
            return;
        }
        int limit = limit(d.run, agent);
        while (agent.slotsTaken < limit && !agent.ready.isEmpty() && !heldBack(d, agent)) {
            TaskRow task = agent.ready.poll();
            d.view.takeSlot(task);
            open(d, task, null);
            dropEnded(agent);
        }
    }

    /**
     * True when the agent's next task must not begin yet; an agent without other work then waits in the queue of
     * agents.
     */
    private static boolean heldBack(Decision d, AgentRow agent) {
        if (!HardLimit.holdsBack(d, agent.ready.element())) {
            return false;
        }
        lineUp(d, agent);
        return true;
    }

    /** Queues an agent that is not at work and has ready tasks. */
    private static void lineUp(Decision d, AgentRow agent) {
        if (!agent.atWork() && !d.view.waitingAgents.contains(agent)) {
            d.view.waitingAgents.add(agent);
        }
    }

    /** Tries again to start all waiting work. */
    static void startWaiting(Decision d) {
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            if (task.hasSlot && (task.state == TaskState.RUNNING || task.state == TaskState.VERIFYING)) {
                open(d, task, null);
                // another node may have found a backoff over, while a limit held the step back
                armRetries(d, task);
            }
        }
        for (AgentRow agent : List.copyOf(d.view.agents)) {
            fill(d, agent);
        }
    }

    /**
     * Arms backoffs and deferrals that are not over by this node's time, though another node may have found them over during the
     * run's pause.
     */
    static void armRetries(Decision d, TaskRow task) {
        for (StepRow step : task.steps) {
            if ((step.state == StepState.AWAITING_RETRY || step.deferred()) && step.nextRunAt != null
                    && step.nextRunAt.isAfter(d.now)) {
                d.arm(TimerKind.STEP_RETRY, step.id(), step.nextRunAt);
            }
        }
    }

    /** Removes cancelled tasks from the head of the agent's queue. */
    private static void dropEnded(AgentRow agent) {
        while (!agent.ready.isEmpty() && agent.ready.peek().state != TaskState.QUEUED) {
            agent.ready.poll();
        }
    }

    /** Brings an agent to {@code running}. */
    static void start(Decision d, AgentRow agent) {
        if (agent.state == AgentState.PENDING) {
            d.move(agent, AgentState.RUNNING, new AgentPayload.Started());
        }
    }

    /** The tasks that an agent works on at a time. */
    static int limit(RunRow run, AgentRow agent) {
        if (run.policy().sequentialTasks()) {
            return 1;
        }
        return agent.name() == null ? run.policy().tasksPerDefaultAgent() : run.policy().tasksPerAgent();
    }

    /** True when the agent is at work or may start; otherwise it must wait in the queue of agents. */
    private static boolean room(Decision d, AgentRow agent) {
        if (agent.atWork()) {
            return true;
        }
        if (d.view.agentsAtWork >= d.run.policy().maxAgents()) {
            lineUp(d, agent);
            return false;
        }
        d.view.waitingAgents.remove(agent);
        return true;
    }

    /** A task has ended: its slot goes to the agent's next task, or another agent may start. */
    static void free(Decision d, TaskRow task) {
        if (task.hasSlot) {
            d.view.leaveSlot(task);
            fill(d, task.agent());
            letOthers(d);
        }
    }

    /** A task gives up its slot or its place in the queue; the slot stays free for now. */
    static void leave(Decision d, TaskRow task) {
        task.agent().ready.remove(task);
        if (task.hasSlot) {
            d.view.leaveSlot(task);
        }
    }

    /** Starts as many waiting agents as the limit allows, those first that have waited longest. */
    static void letOthers(Decision d) {
        for (int left = d.view.waitingAgents.size(); left > 0 && d.atWork()
                && d.view.agentsAtWork < d.run.policy().maxAgents(); left--) {
            fill(d, d.view.waitingAgents.remove());
        }
    }

    /**
     * Opens the next steps of a task with a slot.
     *
     * @param holder of a lane that has just become free and may continue at once; null if absent
     * @return false when no step is left open
     */
    static boolean open(Decision d, TaskRow task, @Nullable String holder) {
        while (task.cursor < task.steps.size() && task.steps.get(task.cursor).state.terminal()) {
            task.cursor++;
        }
        if (task.cursor == task.steps.size()) {
            return false;
        }
        StepRow first = task.steps.get(task.cursor);
        if (first.lane() == 0) {
            open(d, first, holder);
            openCalls(d, first);
        } else {
            openBeside(d, task, holder);
        }
        return true;
    }

    private static void openBeside(Decision d, TaskRow task, @Nullable String holder) {
        int busy = 0;
        List<StepRow> idle = new ArrayList<>();
        for (StepRow step : next(task)) {
            if (idle(step)) {
                idle.add(step);
            } else {
                busy++;
                open(d, step, null);
                openCalls(d, step);
            }
        }
        for (StepRow step : idle.subList(0, Math.clamp(lanes(d.run, task) - busy, 0, idle.size()))) {
            open(d, step, holder);
        }
        d.view.lookAtWaits(task);
    }

    /** Opens the calls of a step's program. */
    private static void openCalls(Decision d, StepRow caller) {
        for (StepRow call : List.copyOf(caller.calls)) {
            open(d, call, null);
        }
        if (!caller.calls.isEmpty()) {
            d.view.lookAtWaits(caller.task());
        }
    }

    /** The step that waits in a lane of the task; null if absent. */
    static @Nullable StepRow queuedStep(TaskRow task, int lane) {
        if (lane == 0) {
            for (int i = task.cursor; i < task.steps.size(); i++) {
                if (!task.steps.get(i).state.terminal()) {
                    return task.steps.get(i).queued && task.steps.get(i).lane() == 0 ? task.steps.get(i) : null;
                }
            }
            return null;
        }
        return task.steps.stream().filter(s -> s.lane() == lane && s.queued).findFirst().orElse(null);
    }

    /** True for a step that was never opened. */
    static boolean idle(StepRow step) {
        return step.state == StepState.PENDING && !step.queued && !step.evaluating;
    }

    /**
     * The open steps of a task that wait for no other step: its first open step, or all open steps that may run in
     * parallel. Calls of programs begin at once and are not among them.
     */
    static List<StepRow> next(TaskRow task) {
        List<StepRow> next = new ArrayList<>();
        for (StepRow step : task.steps.subList(task.cursor, task.steps.size())) {
            if (step.state.terminal() || step.caller() != null) {
                continue;
            }
            if (step.lane() == 0) {
                return next.isEmpty() ? List.of(step) : next;
            }
            next.add(step);
        }
        return next;
    }

    /** The steps of a task that run beside one another at a time. */
    static int lanes(RunRow run, TaskRow task) {
        return task.spec().parallelSteps() ? run.policy().stepsPerTask() : CALLS;
    }

    /** Opens one step unless it is open already or not due yet; idempotent. */
    static void open(Decision d, StepRow step, @Nullable String laneHolder) {
        if (step.queued || step.evaluating || !d.atWork()) {
            return;
        }
        boolean due = switch (step.state) {
            case PENDING -> true;
            case RUNNING -> !step.isHeld() && (step.nextRunAt == null || !step.nextRunAt.isAfter(d.now));
            case AWAITING_RETRY -> step.nextRunAt != null && !step.nextRunAt.isAfter(d.now);
            case WAITING -> step.waitsForCalls() && step.nextRunAt != null;
            case WAITING_APPROVAL, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
        };
        if (!due) {
            return;
        }
        if (step.asks()) {
            gate(d, step);
            return;
        }
        String holder = d.capacity.queues(d.run.workspaceId(), step) ? null : laneHolder;
        if (step.spec().startsRun() && HardLimit.holdsBackChild(d, step.task())) {
            return;
        }
        if (step.spec().engineOwned() || step.reuses() && step != d.computes) {
            begin(d, step.task(), null);
            step.evaluating = true;
            d.evaluate(TimerKind.EVALUATE_STEP, step.id());
        } else if (HardLimit.holdsBack(d, step)) {
            return;
        } else if (holder != null
                && d.capacity.keeps(holder, new Lane(step.task().id(), step.lane()), step.spec().tool())) {
            claim(d, step, holder);
            Lane first = new Lane(step.task().id(), 0);
            // a lane that this commit claims has no row with its lease yet
            if (step.lane() == 0 && step.hold == null && !d.holdEnded && !d.changes.hasPut(first)) {
                d.changes.retain(first);
                step.laneLease = d.left;
            } else {
                enqueue(d, step, d.capacity.lease(), null);
            }
        } else if (holder != null && step.id().equals(d.follower)
                && !d.capacity.runs(holder, step.spec().tool())) {
            claim(d, step, holder);
            enqueue(d, step, d.capacity.lease(), timeout(d, step));
        } else if (holder != null && step.lane() == 0 && d.request != null
                && d.request.keeps(holder, step.spec().tool())
                && Versions.serves(d, step.spec().tool(), d.request.version())) {
            claim(d, step, holder);
            Instant expires = passLane(d, step, d.request.lease());
            d.given = assignment(d, step, expires, d.request.chained(), d.request.version());
        } else if (d.capacity.take(d.run.workspaceId(), step.spec().tool())) {
            claim(d, step, d.capacity.holder());
            enqueue(d, step, d.capacity.lease(), null);
        } else {
            giveOrQueue(d, step);
        }
    }

    /** Leaves the lane to the worker of the reported step. Returns the end of its lease. */
    private static Instant passLane(Decision d, StepRow step, Duration lease) {
        StepRow before = d.reported;
        LaneLease kept = d.left;
        if (before == null || kept == null || before.lane() != step.lane() || before.task() != step.task()
                || step.hold != null || d.holdEnded || d.capacity.queues(d.run.workspaceId(), before)
                || !kept.covers(step.spec().tool(), timeout(d, step), lease, timeout(d, before), d.now)) {
            enqueue(d, step, lease, timeout(d, step));
            return d.now.plus(lease);
        }
        step.laneLease = kept;
        d.changes.retain(new Lane(step.task().id(), step.lane()));
        return kept.end(timeout(d, step));
    }

    /** Gives the step to a worker whose claim waits, else queues it. */
    private static void giveOrQueue(Decision d, StepRow step) {
        String tool = step.spec().tool();
        RemoteSlot slot = d.capacity.takeRemotely(d.run.workspaceId(), tool, Versions.target(d, tool));
        if (slot == null) {
            step.queued = true;
            enqueue(d, step, null, null);
            if (step.waitsForCalls()) {
                d.view.lookAtWaits(step.task());
            }
        } else {
            claim(d, step, slot.holder());
            enqueue(d, step, slot.lease(), timeout(d, step));
            d.changes.assign(step, new Given(slot,
                    assignment(d, step, d.now.plus(slot.lease()), slot.chained(), slot.version())));
        }
    }

    /** An agent's call that a person may have to approve: evaluates its condition, where it has one. */
    private static void gate(Decision d, StepRow call) {
        if (Objects.requireNonNull(call.gate).conditional()) {
            call.evaluating = true;
            d.evaluate(TimerKind.EVALUATE_STEP, call.id());
        } else {
            ask(d, call);
        }
    }

    /** Lets an agent's call wait for a person, without a lease. */
    static void ask(Decision d, StepRow call) {
        d.move(call, StepState.WAITING_APPROVAL, new StepPayload.ApprovalRequested(call.gate));
        d.ask(call.id());
    }

    /** Gives a step to a holder: a new epoch, and a new attempt when it follows a reported failure. */
    static void claim(Decision d, StepRow step, String holder) {
        begin(d, step.task(), holder);
        boolean again = step.state == StepState.RUNNING || step.state == StepState.WAITING;
        if (!again) {
            step.attempt++;
            step.deferredSince = null;
            step.deferredFor = null;
        }
        if (step.needed() != null) {
            d.view.refused--;
            CountedTime.spareRefused(d.view, d.changes, step, d.now);
        }
        step.leaseEpoch++;
        step.deliveries++;
        step.holder = holder;
        Holds.take(d, step);
        step.queued = true;
        step.nextRunAt = null;
        d.run.quietSince = null;
        d.move(step, StepState.RUNNING, again ? new StepPayload.Reclaimed(step.attempt, step.leaseEpoch, holder)
                : new StepPayload.Started(step.attempt, step.leaseEpoch, holder));
        d.changes.started(d.run, step);
        if (d.capacity.runs(holder, step.spec().tool())) {
            d.changes.chain(step, () -> Chains.after(d, step));
        }
    }

    /** How long an execution of the step may take. */
    static Duration timeout(Decision d, StepRow step) {
        return timeout(d.run, step);
    }

    /** How long an execution of the step of a run may take. */
    static Duration timeout(RunRow run, StepRow step) {
        Duration ofTask = step.task().spec().policy().timeout();
        return !step.spec().timeout().equals(StepSpec.OF_TASK) ? step.spec().timeout()
                : ofTask == null ? run.policy().timeouts().task() : ofTask;
    }

    /**
     * The assignment for the worker that holds a step's lease.
     *
     * @param expires end of the lease
     * @param chained tools without effects, consecutive steps of which the holder executes one after another
     * @param version of the worker; null for an executor of a node
     */
    static StepAssignment assignment(Decision d, StepRow step, Instant expires, Set<String> chained,
            @Nullable String version) {
        Versions.claimed(d, step.spec().tool(), version);
        StepAssignment first = assignment(d, step, expires, d.now.plus(timeout(d, step)));
        if (!chained.contains(step.spec().tool())) {
            return first;
        }
        List<StepRow> following = Chains.ofWorker(d, step, chained, version);
        following.forEach(next -> Versions.claimed(d, next.spec().tool(), version));
        return first.withFollowing(following.stream()
                .map(next -> new StepAssignment(first.runId(), first.taskId(), next.id(), next.spec().tool(),
                        next.spec().input(), next.attempt() + 1, next.leaseEpoch() + 1, first.leaseExpiresAt(),
                        d.now.plus(timeout(d, next)), next.effectKey(d.run), null, first.trace(), null))
                .toList());
    }

    /** @param deadline null for an executor of a node */
    static StepAssignment assignment(Decision d, StepRow step, Instant expires, @Nullable Instant deadline) {
        return new StepAssignment(d.run.id(), step.task().id(), step.id(), step.spec().tool(), step.spec().input(),
                step.attempt(), step.leaseEpoch(), expires, deadline,
                step.effectKey(d.run), step.setback(), d.run.trace(), step.hold == null ? null : step.hold.maxOutput());
    }

    static void enqueue(Decision d, StepRow step, @Nullable Duration lease, @Nullable Duration timeout) {
        TaskRow task = step.task();
        d.changes.touch(d.run);
        QueueItem item = new QueueItem(new Lane(task.id(), step.lane()), d.run.id(), d.run.workspaceId(),
                d.run.priority(), step.spec().tool(), step.spec().input(), Objects.requireNonNull(task.queuedAt),
                step.holder, lease, timeout, step.hold,
                step.holder == null ? Versions.lot(d, step.spec().tool()) : null, Rungs.agent(task));
        step.laneLease = LaneLease.of(item.tool(), lease, timeout == null ? null : d.now.plus(timeout));
        d.changes.put(item);
    }

    /** @param worker the worker that takes its first step; null for the engine */
    private static void begin(Decision d, TaskRow task, @Nullable String worker) {
        if (task.state == TaskState.QUEUED) {
            d.begin();
            start(d, task.agent());
            d.move(task, TaskState.ASSIGNED, EventPayloads.assigned(task, worker));
            d.move(task, TaskState.RUNNING, new TaskPayload.Started(task.attempt, null, worker));
            Duration timeout = task.spec().policy().timeout();
            if (timeout != null) {
                d.watch(d.now.plus(timeout));
            }
        }
    }

    /** Removes a step's lane from the queue and signals its lease holder to stop. */
    static void close(Decision d, StepRow step) {
        if (step.isHeld()) {
            d.changes.stopped(step);
            recordUse(d, step);
        }
        if (step.queued) {
            d.changes.touch(d.run);
            d.changes.remove(new Lane(step.task().id(), step.lane()));
        }
        step.queued = false;
        step.holder = null;
        step.laneLease = null;
        Holds.drop(d, step);
    }

    /** The result of a lease that ends without a report: heartbeats have said its use. */
    private static void recordUse(Decision d, StepRow step) {
        Metered used = step.metered;
        if (used != null && used.epoch() == step.leaseEpoch) {
            d.changes.amend(new ChangeSet.StepResult(step.id(), step.leaseEpoch, d.run.id(), LostAnswers.LOST,
                    step.attempt, step.startedAt, null, null, null, null, used.tokens(), used.cost(), step.holder,
                    false));
        }
    }

    /** Removes an unclaimed step from the queue; a task that has not begun waits again before others. */
    static void withdraw(Decision d, StepRow step) {
        TaskRow task = step.task();
        close(d, step);
        d.view.lookAtWaits(task);
        if (task.state == TaskState.QUEUED && task.steps.stream().noneMatch(each -> each.queued)) {
            d.view.leaveSlot(task);
            task.agent().ready.addFirst(task);
            lineUp(d, task.agent());
        }
    }

    /** On a pause: removes unclaimed lanes from the queue, and their tasks wait again in their order. */
    static void withdraw(Decision d) {
        List<TaskRow> waiting = new ArrayList<>();
        for (TaskRow task : d.view.tasks.values()) {
            if (!task.hasSlot) {
                continue;
            }
            task.steps.stream().filter(step -> step.queued && !step.isHeld()).forEach(step -> close(d, step));
            d.view.lookAtWaits(task);
            if (task.state == TaskState.QUEUED) {
                d.view.leaveSlot(task);
                waiting.add(task);
            }
        }
        waiting.sort(TaskRow.BY_TURN.reversed());
        waiting.forEach(task -> task.agent().ready.addFirst(task));
    }
}
