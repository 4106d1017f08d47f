package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.lifecycle.Edge;
import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.Lifecycle;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.CallGate;
import io.keelson.core.run.Event;
import io.keelson.core.run.TaskPayload;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * Laws of the audit trail (I3, I4), checked by applying one commit's events to the rows before it:
 * no number is left out, every edge is in its lifecycle, the fold is the rows' state, and what an event says was allowed
 * at that very moment.
 */
final class EventLaws {
    private static final Map<String, Map<String, Edge<?>>> EDGES = edges();

    /** What may happen after an end; only a retry leads on. */
    private static final Set<EventType> AFTER_THE_END =
            Set.of(EventType.RUN_RETRYING, EventType.RUN_UNDO_REQUESTED, EventType.RUN_UNDO_STARTED,
                    EventType.RUN_UNDO_REFUSED, EventType.RUN_UNDO_ENDED, EventType.RUN_BUDGET_CHANGED,
                    EventType.RUN_BUDGET_INCREASED,
                    EventType.PROPOSAL_ACCEPTED, EventType.PROPOSAL_REJECTED, EventType.PROPOSAL_WITHDRAWN,
                    EventType.APPROVAL_VOTED, EventType.APPROVAL_VOTE_WITHDRAWN, EventType.MODEL_ANSWER_LOST);

    private final RunRows before;
    private final RunRows after;
    private final Map<UUID, String> states = new HashMap<>();
    private final Map<UUID, int[]> starts = new HashMap<>();
    private final Map<UUID, Integer> deliveries = new HashMap<>();
    private final Set<UUID> heard = new HashSet<>();
    private final Map<UUID, Integer> rungs = new HashMap<>();
    private final Set<UUID> asked = new HashSet<>();

    EventLaws(RunRows before, RunRows after) {
        this.before = before;
        this.after = after;
    }

    void check(List<Event> events) {
        begin();
        boolean ended = before != null && before.run.state().terminal();
        long seq = before == null ? 0 : before.head.seq();
        for (Event event : events) {
            unless(event.seq() == ++seq, "I3: event %s where number %s is due", event, seq);
            unless(!ended || AFTER_THE_END.contains(event.type()), "I4: the run had ended: %s", event);
            ended &= event.type() != EventType.RUN_RETRYING;
            unless(event.type() != EventType.RUN_UNDO_STARTED || before.undo.undoRun() == null, "undone twice: %s",
                    event);
            unless(!(event.payload() instanceof TaskPayload.Skipped skipped) || !Undos.is(after)
                    || skipped.skippedBy() != null, "an undo leaves work out: %s", event);
            if (event.to() != null) {
                moved(event);
            } else if (event.type() == EventType.STEP_RELEASED || event.type() == EventType.STEP_DEFERRED) {
                deliveries.merge(event.stepId(), -1, Integer::sum);
            } else if (event.payload() instanceof TaskPayload.RungReached rung) {
                climbed(event, rung.rung());
            } else if (event.payload() instanceof TaskPayload.Created created && created.group() != null) {
                unless(Set.of("running", "ready", "pending").contains(states.get(after.id())),
                        "an item or a round of a run that does not run: %s", event);
            } else if (event.payload() instanceof TaskPayload.RoundCompleted round) {
                List<Saved.Task> tasks = after.roundsOf(after.tasks.get(event.taskId()))
                        .filter(task -> task.itemIndex() == round.round()).toList();
                unless(!tasks.isEmpty() && tasks.stream().allMatch(
                        task -> Set.of("completed", "failed", "skipped").contains(states.get(task.id()))),
                        "a round that has not ended: %s", event);
                unless(round.roundTaskId() == null || round.roundTaskId().equals(tasks.getFirst().id()),
                        "another round: %s", event);
            }
        }
        unless(after.head.seq() == seq, "I3: the run counts %s events, there are %s", after.head.seq(), seq);
        carried();
        end();
    }

    /** Rungs of a ladder are tried upwards, from the one in force. */
    private void climbed(Event event, int rung) {
        Saved.Task task = before.tasks.get(event.taskId());
        int present = task == null ? 0
                : task.spec().policy().rung(name -> before.stepsOf(task.id())
                        .anyMatch(step -> step.spec().name().equals(name)));
        unless(rung > rungs.getOrDefault(event.taskId(), present), "a rung is tried again: %s", event);
        rungs.put(event.taskId(), rung);
    }

    private void begin() {
        states.put(after.id(), before == null ? "created" : before.run.state().wire());
        if (before != null) {
            before.agents.values().forEach(agent -> states.put(agent.id(), agent.state().wire()));
            before.tasks.values().forEach(task -> states.put(task.id(), task.state().wire()));
            before.steps.values().forEach(step -> {
                states.put(step.id(), step.state().wire());
                deliveries.put(step.id(), step.deliveries());
            });
        }
        after.agents.keySet().forEach(id -> states.putIfAbsent(id, "pending"));
        after.tasks.values().forEach(
                task -> states.putIfAbsent(task.id(), task.reusedFrom() == null ? "pending" : "completed"));
        after.steps.keySet().forEach(id -> states.putIfAbsent(id, "pending"));
    }

    /** A reused task depends on no task that is repeated. */
    private void carried() {
        after.tasks.values().stream().filter(task -> task.reusedFrom() != null).forEach(task -> unless(
                task.upstreams().stream().map(after.tasks::get)
                        .allMatch(up -> up.reusedFrom() != null || up.superseded()),
                "carried over without its upstreams: %s", task));
    }

    private void moved(Event event) {
        UUID entity = event.stepId() != null ? event.stepId()
                : event.taskId() != null ? event.taskId()
                        : event.agentId() != null ? event.agentId() : event.runId();
        Edge<?> edge = EDGES.get(Coverage.entity(event)).get(event.from() + "→" + event.to());
        unless(edge != null && edge.event() == event.type(), "I4: no such edge: %s", event);
        unless(Objects.equals(states.put(entity, event.to()), event.from()), "I4: does not follow: %s", event);
        if (event.stepId() != null) {
            stepMoved(event, after.steps.get(event.stepId()));
        } else if (event.taskId() != null) {
            taskMoved(event, after.tasks.get(event.taskId()));
        }
    }

    /** Whether later steps may begin. A program's call may have been cancelled. */
    private boolean ended(Saved.Step step) {
        return List.of("completed", "skipped").contains(states.get(step.id())) || step.failureIgnored()
                || step.caller() != null && step.state().terminal();
    }

    private void stepMoved(Event event, Saved.Step step) {
        if (event.to().equals("running")) {
            starts.computeIfAbsent(step.id(), id -> new int[2])[List.of("running", "waiting").contains(event.from()) ? 1
                    : 0]++;
            deliveries.merge(step.id(), 1, Integer::sum);
        } else if (event.from().equals("running") && event.to().equals("waiting")) {
            deliveries.merge(step.id(), -1, Integer::sum);
        } else if (event.from().equals("running")) {
            heard.add(step.id());
        }
        if (event.to().equals("waiting_approval")) {
            asked.add(step.id());
        }
        if (event.from().equals("pending") && !List.of("cancelled", "skipped").contains(event.to())) {
            unless(mayBegin(step), "nothing begins unless the run runs: %s", event);
            if (step.caller() != null) {
                unless(states.containsKey(step.caller()), "a call before its caller: %s", event);
            } else if (!after.tasks.get(step.taskId()).spec().parallelSteps()) {
                after.stepsOf(step.taskId()).filter(other -> other.taskAttempt() == step.taskAttempt())
                        .filter(other -> before(other, step) && !beside(other, step))
                        .forEach(other -> unless(ended(other), "steps in order: %s before %s", event, other));
            }
        }
        if (event.to().equals("running")) {
            unless(mayBegin(step), "nothing is handed out unless the run runs: %s", event);
            unless(!step.spec().engineOwned(), "never handed to a worker: %s", event);
            unless(!gated(step) || asked.contains(step.id())
                    || before != null && before.steps.containsKey(step.id())
                            && before.steps.get(step.id()).startedAt() != null,
                    "a call without its person's approval: %s", event);
        }
    }

    private static boolean gated(Saved.Step step) {
        return step.gate() != null && step.gate().reason() != CallGate.Reason.CONDITION_FALSE;
    }

    private static boolean before(Saved.Step one, Saved.Step other) {
        return one.position() < other.position()
                || one.position() == other.position() && one.turn() < other.turn();
    }

    /** Calls of one turn: between two turns' calls there is a turn, which has no lane of its own. */
    private boolean beside(Saved.Step one, Saved.Step other) {
        return one.lane() > 0 && other.lane() > 0 && after.stepsOf(other.taskId())
                .filter(each -> each.lane() == 0 && each.taskAttempt() == other.taskAttempt())
                .noneMatch(each -> before(one, each) && before(each, other));
    }

    /** While a run is planning, its planner alone is at work. */
    private boolean mayBegin(Saved.Step step) {
        String state = states.get(after.id());
        return state.equals("running")
                || state.equals("planning") && after.tasks.get(step.taskId()).key().startsWith(".planning-");
    }

    private void taskMoved(Event event, Saved.Task task) {
        boolean begins = event.to().equals("queued") && event.from().equals("pending")
                && (task.groupId() == null || after.tasks.get(task.groupId()).isLoop());
        if (!begins && !"trigger_rule".equals(event.members().get("reason"))) {
            return;
        }
        if (task.upstreams().stream().anyMatch(this::supersededNow)) {
            return;
        }
        List<String> upstreams = task.upstreams().stream().map(after.tasks::get).filter(up -> !up.superseded())
                .map(up -> up.failureIgnored() ? "failure_ignored" : states.get(up.id())).toList();
        boolean over = upstreams.stream()
                .allMatch(
                        state -> List.of("completed", "failed", "cancelled", "skipped", "failure_ignored")
                                .contains(state));
        boolean holds = switch (task.spec().triggerRule()) {
            case ALL_SUCCESS -> upstreams.stream().allMatch("completed"::equals);
            case NONE_FAILED -> upstreams.stream().noneMatch(List.of("failed", "failure_ignored")::contains);
            case ALL_DONE, ALWAYS -> true;
        };
        unless(over || task.spec().triggerRule() == TriggerRule.ALWAYS, "judged too early: %s %s", event, upstreams);
        unless(holds == begins, "trigger rule %s of %s, upstreams %s: %s", task.spec().triggerRule(), task.key(),
                upstreams, event);
    }

    private boolean supersededNow(UUID task) {
        Saved.Task was = before == null ? null : before.tasks.get(task);
        return after.tasks.get(task).superseded() && (was == null || !was.superseded());
    }

    private void end() {
        fold(after.id(), after.run.state());
        after.agents.values().forEach(agent -> fold(agent.id(), agent.state()));
        after.tasks.values().forEach(task -> {
            fold(task.id(), task.state());
            turnsKept(task, before == null ? null : before.tasks.get(task.id()));
        });
        after.steps.values().forEach(step -> {
            fold(step.id(), step.state());
            claims(step, before == null ? null : before.steps.get(step.id()));
        });
    }

    private void fold(UUID id, State state) {
        unless(states.get(id).equals(state.wire()), "I3: events end in %s, row of %s is %s", states.get(id), id, state);
    }

    /** After an infrastructure failure an agent's next attempt has all turns of the last one but its last; that of a rung has none. */
    private void turnsKept(Saved.Task task, Saved.Task was) {
        if (was == null || rungs.containsKey(task.id()) || task.attempt() != was.attempt() + 1
                || !"infrastructure".equals(task.errorClass())) {
            return;
        }
        List<Saved.Step> had = before.stepsOf(task.id()).filter(step -> step.taskAttempt() == was.attempt())
                .filter(step -> step.spec().kind() != StepKind.VERIFY)
                .sorted(Comparator.comparing(Saved.Step::position).thenComparing(Saved.Step::turn)).toList();
        if (task.spec().parallelSteps() || had.stream()
                .anyMatch(step -> step.spec().kind() != StepKind.TURN && step.spec().kind() != StepKind.CALL)) {
            return;
        }
        had.stream().limit(Math.max(0, had.size() - 1))
                .filter(step -> step.spec().kind() == StepKind.TURN && step.state() == StepState.COMPLETED)
                .forEach(step -> unless(after.steps.get(step.id()).taskAttempt() == task.attempt(),
                        "a turn is repeated: %s", step));
    }

    /** An epoch for every claim, an attempt for every claim but those that follow a lost lease. */
    private void claims(Saved.Step step, Saved.Step was) {
        int[] started = starts.getOrDefault(step.id(), new int[2]);
        int epochs = step.leaseEpoch() - (was == null ? 0 : was.leaseEpoch());
        int attempts = step.attempt() - (was == null ? 0 : was.attempt());
        StepSpec spec = step.spec();
        unless(epochs == started[0] + started[1], "%s epochs for %s claims: %s", epochs, started[0] + started[1], step);
        unless(attempts == started[0], "%s attempts counted, %s begun: %s", attempts, started[0], step);
        unless(step.attempt() - step.grantedRetries() <= spec.retry().maxAttempts(), "too many attempts: %s", step);
        unless(step.failures() <= spec.retry().maxFailures(), "too many failures: %s", step);
        int delivered = deliveries.getOrDefault(step.id(), 0);
        boolean forgotten = heard.contains(step.id()) || was != null && step.grantedRetries() != was.grantedRetries();
        unless(forgotten ? step.deliveries() <= delivered : step.deliveries() == delivered, "deliveries are %s: %s",
                delivered, step);
        unless(step.deliveries() <= after.accepted.policy().maxDeliveries(), "poison continues: %s", step);
        boolean once = step.spec().kind() == StepKind.CALL && step.spec().retry().maxAttempts() == 1;
        unless(!once || step.deliveries() <= 1, "a call with an unknown outcome is repeated: %s", step);
    }

    private static Map<String, Map<String, Edge<?>>> edges() {
        Map<String, Map<String, Edge<?>>> edges = new HashMap<>();
        for (Lifecycle<?> lifecycle : Lifecycles.all()) {
            Map<String, Edge<?>> own = new HashMap<>();
            lifecycle.edges().forEach(edge -> own.put(wire(edge.from()) + "→" + wire(edge.to()), edge));
            edges.put(lifecycle.entity(), own);
        }
        return edges;
    }

    private static String wire(Enum<?> state) {
        return ((State) state).wire();
    }
}
