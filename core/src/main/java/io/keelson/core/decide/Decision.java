package io.keelson.core.decide;

import io.keelson.core.lifecycle.ActorType;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.Edge;
import io.keelson.core.lifecycle.Lifecycle;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Event;
import io.keelson.core.run.Ids;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Payload;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One decision in progress: its view, its changes so far, and the only methods that change state. Each {@code move}
 * follows the lifecycle, writes the event and marks the row. A forbidden move here is a bug; forbidden requests of
 * clients are refused earlier.
 */
final class Decision {
    final RunView view;
    final RunRow run;
    final ChangeSet changes;
    final Instant now;
    final Ids ids;
    final LocalCapacity capacity;
    final Funds funds;
    final Actor actor;
    /** True when a step did not start because of the run's limit. */
    boolean heldBack;
    /** True when charges have reached the part of the hard limit at which a run may ask for a new plan. */
    boolean replanAtBudget;
    /** True when a step did not start because the workspace's limit of the month does not pay it. */
    boolean heldBackByMonth;
    /** Tasks, by their ids in the plan, whose budgets were charged or kept a step from starting. */
    final Set<String> budgets = new TreeSet<>();
    /** A planner's task that has ended without an answer; null if absent. Handled after the command. */
    @Nullable TaskRow failedPlanner;
    /** Answers of models that a further execution of the failing step would fetch. */
    List<LostAnswer> fetchable = List.of();
    /** True when a hold has ended: work that waited for it may begin. */
    boolean holdEnded;
    /** True when the lane goes behind waiting work of others. */
    boolean yields;
    /** The work that the command's worker asks to continue with; null if absent. */
    @Nullable NextStepRequest request;
    /** The step that the worker has executed behind the reported one, in its chain; null if absent. */
    @Nullable UUID follower;
    /** The step whose result the command records; null if absent. */
    @Nullable StepRow reported;
    /** The worker's lease of that step's lane; null if absent, or if the batch has changed the lane's row of the queue. */
    @Nullable LaneLease left;
    /** The step that computes a result which others take over; null if absent. */
    @Nullable StepRow computes;
    /** The output in the command, JSON text; null if absent. */
    @Nullable String yielded;
    /** The assignment it received; null if absent. */
    @Nullable StepAssignment given;

    Decision(RunView view, ChangeSet changes, Instant now, Ids ids, LocalCapacity capacity, Funds funds, Actor actor) {
        this.view = view;
        this.run = view.run;
        this.changes = changes;
        this.now = now;
        this.ids = ids;
        this.capacity = capacity;
        this.funds = funds;
        this.actor = actor;
    }

    /** True while steps may begin: the plan's, and the planner's. */
    boolean atWork() {
        return carriedOut() || planning();
    }

    /** True while the run's first planner works or its answer is checked. */
    boolean planning() {
        return run.state == RunState.PLANNING;
    }

    /** True while the plan is executed: its first steps may be claimed before the run is running. */
    boolean carriedOut() {
        return run.state == RunState.RUNNING || queued();
    }

    /**
     * True while the plan's first steps wait to be claimed. A run with a concurrency key is pending before its turn.
     */
    private boolean queued() {
        return run.state == RunState.READY || run.state == RunState.PENDING && run.policy().concurrency() == null;
    }

    /** The plan's work begins: the run is running from now on. The planner's work does not count. */
    void begin() {
        if (queued()) {
            move(RunState.RUNNING, new RunPayload.Started());
            recordAttempt();
        }
    }

    void move(RunState to, Payload payload) {
        Edge<RunState> edge = edge(Lifecycles.RUN, run.state, to, payload);
        run.state = to;
        run.stateSince = now;
        if (to == RunState.RUNNING && run.startedAt == null) {
            run.startedAt = now;
        }
        if (to == RunState.RUNNING && run.begunAt == null) {
            run.begunAt = now;
        }
        run.completedAt = to.terminal() ? now : null;
        event(null, null, null, edge.from(), edge.to(), payload);
    }

    void move(AgentRow agent, AgentState to, Payload payload) {
        Edge<AgentState> edge = edge(Lifecycles.AGENT, agent.state, to, payload);
        agent.state = to;
        if (to == AgentState.RUNNING && agent.startedAt == null) {
            agent.startedAt = now;
        }
        if (to == AgentState.RUNNING && agent.begunAt == null) {
            agent.begunAt = now;
        }
        agent.completedAt = to.terminal() ? now : null;
        changes.touch(agent);
        event(agent, null, null, edge.from(), edge.to(), payload);
    }

    void move(TaskRow task, TaskState to, Payload payload) {
        Edge<TaskState> edge = edge(Lifecycles.TASK, task.state, to, payload);
        view.tasksBegun -= RunView.hasBegun(task) ? 1 : 0;
        task.state = to;
        task.stateSince = now;
        task.askedAt = to == TaskState.AWAITING_HUMAN ? now : null;
        view.tasksBegun += RunView.hasBegun(task) ? 1 : 0;
        switch (to) {
            case QUEUED -> {
                task.queuedAt = now;
                task.begunAt = null;
            }
            case RUNNING -> {
                task.startedAt = task.startedAt == null ? now : task.startedAt;
                task.begunAt = task.begunAt == null ? now : task.begunAt;
            }
            default -> task.completedAt = to.terminal() ? now : null;
        }
        if (to.terminal() && task.isRound()) {
            Objects.requireNonNull(task.group()).collect(task);
            changes.touch(Objects.requireNonNull(task.group()));
        }
        view.lookAtWaits(task);
        view.lookAtWork(task);
        changes.touch(task);
        event(task.agent(), task, null, edge.from(), edge.to(), payload);
    }

    void move(StepRow step, StepState to, Payload payload) {
        Edge<StepState> edge = edge(Lifecycles.STEP, step.state, to, payload);
        if (step.state == StepState.WAITING && !step.waitsForCalls() || step.state == StepState.WAITING_APPROVAL) {
            CountedTime.spare(changes, step, step.startedAt, now);
        }
        if (to.terminal() && !step.requests.isEmpty()) {
            throw new IllegalStateException("step " + step.id() + " ends with open requests to models");
        }
        if (to.terminal() && step.calls.stream().anyMatch(call -> !call.state.terminal())) {
            throw new IllegalStateException("step " + step.id() + " ends with open calls of its program");
        }
        view.refused -= to.terminal() && step.needed() != null ? 1 : 0;
        step.state = to;
        if (step.startedAt == null && !to.terminal() && to != StepState.PENDING) {
            step.startedAt = now;
        }
        step.completedAt = to.terminal() ? now : null;
        step.call = to.terminal() ? null : step.call;
        if (to == StepState.WAITING || to == StepState.WAITING_APPROVAL || step.task().waits || step.parked()
                || step.lane() > 0) {
            view.lookAtWaits(step.task());
        }
        changes.touch(step);
        StepRow caller = !to.terminal() || step.caller() == null ? null : view.steps.get(step.caller());
        if (caller != null && caller.waitsForCalls() && caller.nextRunAt == null) {
            caller.nextRunAt = now;
            changes.touch(caller);
        }
        event(step.task().agent(), step.task(), step, edge.from(), edge.to(), payload);
    }

    /** Writes an event of the run without a transition. */
    void note(Payload payload) {
        event(null, null, null, null, null, payload);
    }

    /** Writes an event of a task without a transition. */
    void note(TaskRow task, Payload payload) {
        note(task, null, payload);
    }

    /** Writes an event of a task, a step or the run without a transition. */
    void note(@Nullable TaskRow task, @Nullable StepRow step, Payload payload) {
        event(task == null ? null : task.agent(), task, step, null, null, payload);
    }

    /** Writes an event of an agent without a transition. */
    void note(AgentRow agent, Payload payload) {
        event(agent, null, null, null, null, payload);
    }

    private void event(@Nullable AgentRow agent, @Nullable TaskRow task, @Nullable StepRow step, @Nullable State from,
            @Nullable State to, Payload payload) {
        run.seq++;
        changes.touch(run);
        changes.add(new Event(run.id(), run.seq, run.attempt, agent == null ? null : agent.id(),
                task == null ? null : task.id(), step == null ? null : step.id(), payload,
                from == null ? null : from.wire(), to == null ? null : to.wire(), decidedBy(payload, task), now));
    }

    /** The actor of an event, from its type unless the payload names one. */
    private Actor decidedBy(Payload payload, @Nullable TaskRow task) {
        Actor own = payload.actor();
        if (own != null) {
            return own;
        }
        if (payload.requested()) {
            return requested() ? actor : Actor.SYSTEM;
        }
        return switch (payload.type().by()) {
            case HUMAN, SERVICE -> requested() ? actor : Actor.SYSTEM;
            case AGENT -> worker(task);
            case VERIFIER -> new Actor(ActorType.VERIFIER, task == null ? null : verifier(task));
            case COORDINATOR -> Actor.COORDINATOR;
            case RECONCILER -> Actor.RECONCILER;
            case SYSTEM -> Actor.SYSTEM;
        };
    }

    /** The caller of the command, as payloads name them; {@code system} for commands of the engine. */
    String by() {
        return requested() ? actor.name() : Actor.SYSTEM.name();
    }

    /** True when a person or a service has asked for the command. */
    private boolean requested() {
        return actor.type() == ActorType.HUMAN || actor.type() == ActorType.SERVICE;
    }

    /** The tool of the verifying step that ended last. */
    private static @Nullable String verifier(TaskRow task) {
        return task.steps.stream().filter(step -> step.spec().kind() == StepKind.VERIFY && step.startedAt != null)
                .reduce((one, next) -> next).map(step -> step.spec().tool()).orElse(null);
    }

    /** The roster agent of the task, or the reporting worker or node. */
    private Actor worker(@Nullable TaskRow task) {
        if (actor.type() != ActorType.AGENT) {
            return actor.type() == ActorType.RECONCILER ? Actor.RECONCILER : Actor.SYSTEM;
        }
        AgentTerms terms = task == null ? null : Rungs.terms(task);
        return terms == null || terms.slug() == null ? actor : Actor.agent(terms.slug());
    }

    /** The edge between two states; it determines the transition's event. */
    private static <S extends Enum<S> & State> Edge<S> edge(Lifecycle<S> lifecycle, S from, S to, Payload payload) {
        Edge<S> edge = lifecycle.edge(from, to);
        if (edge == null) {
            throw new IllegalStateException(lifecycle.entity() + " cannot go from " + from + " to " + to);
        }
        if (edge.event() != payload.type()) {
            throw new IllegalStateException(lifecycle.entity() + " going from " + from + " to " + to + " is "
                    + edge.event() + ", not " + payload.type());
        }
        return edge;
    }

    /** Arms a timer of one of the run's entities, or of the run. */
    void arm(TimerKind kind, UUID subject, Instant due) {
        changes.touch(run);
        changes.arm(new ChangeSet.Timer(new ChangeSet.TimerKey(kind, subject), run.id(), due));
    }

    /** Arms the timer of a row's question to a person, for the first time or as a reminder. */
    void ask(UUID subject) {
        ask(subject, now.plus(run.policy().humans().timeout()));
    }

    /** @param due when a person is reminded, or the run's rule answers */
    void ask(UUID subject, Instant due) {
        Question question = Questions.of(view, subject);
        if (question == null) {
            throw new IllegalStateException("nothing waits for a person: " + subject);
        }
        changes.touch(run);
        changes.arm(new ChangeSet.Timer(new ChangeSet.TimerKey(TimerKind.HUMAN, subject), run.id(), due, question));
    }

    /** Requests an evaluation after the commit, with a timer that repeats the request if no answer arrives. */
    void evaluate(TimerKind kind, UUID subject) {
        arm(kind, subject, now.plus(EVALUATION_TIMEOUT));
        changes.evaluate(new ChangeSet.Evaluate(run.id(), kind, subject));
    }

    /**
     * Disarms a timer that was due at the given time; a timer that was armed again since stays.
     *
     * @param due null when it was not armed
     */
    void disarm(TimerKind kind, UUID subject, @Nullable Instant due) {
        changes.touch(run);
        if (due != null) {
            changes.disarmHandled(new ChangeSet.Timer(new ChangeSet.TimerKey(kind, subject), run.id(), due));
        }
    }

    void disarm(TimerKind kind, UUID subject) {
        changes.touch(run);
        changes.disarm(new ChangeSet.TimerKey(kind, subject));
    }

    /** How long an evaluation may stay unanswered before the engine repeats the request. */
    static final Duration EVALUATION_TIMEOUT = Duration.ofSeconds(5);

    /** Writes the row of the current attempt, which is open. */
    void recordAttempt() {
        recordAttempt(ChangeSet.Account.open(run));
    }

    /** Writes the row of the current attempt. */
    void recordAttempt(ChangeSet.Account credits) {
        changes.attempt(new ChangeSet.Attempt(run.id(), run.attempt, run.state.wire(), now, run.completedAt,
                run.errorCode, run.errorMessage, run.failures, credits));
    }

    /** Checks the timeouts at that time, unless they are checked earlier. */
    void watch(Instant due) {
        if (view.watchDue == null || due.isBefore(view.watchDue)) {
            view.watchDue = due;
            arm(TimerKind.WATCH, run.id(), due);
        }
    }
}
