package io.keelson.server.app.metrics;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Transfer;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Event;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepPayload;
import io.keelson.server.engine.commit.Observer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Timer;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Counts an engine's commits by their events; rolled-back changes are not counted. */
final class EngineMeters implements Observer {

    private static final int MAX_CODES = 100;
    private static final String OTHER = "other";

    private final Meters meters;
    private final ModelMeters models;
    private final Map<String, Counter> runs;
    private final Map<String, Counter> agents;
    private final Map<String, Counter> tasks;
    private final Map<String, Counter> steps;
    /** Counters by event type. */
    private final Map<EventType, Counter> byEvent = new EnumMap<>(EventType.class);
    private final Map<String, Counter> stepErrors = new HashMap<>();
    private final Map<String, Counter> triggers = new ConcurrentHashMap<>();
    private final Map<String, Counter> failures = new ConcurrentHashMap<>();
    private final Map<Transfer.Kind, Counter> entries = new EnumMap<>(Transfer.Kind.class);
    private final Map<Transfer.Kind, ExactCounter> credits = new EnumMap<>(Transfer.Kind.class);
    private final Map<BatchPath, Counter> flushes = new EnumMap<>(BatchPath.class);
    private final Map<Duty, Counter> looks = new EnumMap<>(Duty.class);
    private final Map<Duty, Counter> repairs = new EnumMap<>(Duty.class);
    private final Timer flushTime;
    private final DistributionSummary flushSize;
    private final Counter overloaded;
    private final Counter unpriced;
    private final Counter holdsExceeded;
    private final Counter outages;
    private final Counter withFailures;
    private final AtomicBoolean databaseAnswers = new AtomicBoolean(true);

    EngineMeters(Meters meters, ModelMeters models) {
        this.meters = meters;
        this.models = models;
        runs = byState(Metric.RUN_TRANSITIONS, RunState.values());
        agents = byState(Metric.AGENT_TRANSITIONS, AgentState.values());
        tasks = byState(Metric.TASK_TRANSITIONS, TaskState.values());
        steps = byState(Metric.STEP_TRANSITIONS, StepState.values());
        byEvent.put(EventType.RUN_RETRYING, meters.counter(Metric.RETRIES, "run"));
        byEvent.put(EventType.AGENT_RETRYING, meters.counter(Metric.RETRIES, "agent"));
        byEvent.put(EventType.TASK_RETRYING, meters.counter(Metric.RETRIES, "task"));
        byEvent.put(EventType.STEP_RETRYING, meters.counter(Metric.RETRIES, "step"));
        byEvent.put(EventType.STEP_LEASE_EXPIRED, meters.counter(Metric.LEASES_LOST));
        byEvent.put(EventType.STEP_RELEASED, meters.counter(Metric.LEASES_RELEASED));
        byEvent.put(EventType.TASK_ROUND_COMPLETED, meters.counter(Metric.TASK_ROUNDS));
        byEvent.put(EventType.RUN_UNDO_ENDED, meters.counter(Metric.UNDOS));
        byEvent.put(EventType.STEP_RESULT_REUSED, meters.counter(Metric.RESULTS_REUSED));
        byEvent.put(EventType.STEP_RESULT_AWAITED, meters.counter(Metric.RESULTS_AWAITED));
        byEvent.put(EventType.STEP_DEFERRED, meters.counter(Metric.STEPS_DEFERRED));
        byEvent.put(EventType.RUN_PLAN_READY, meters.counter(Metric.HUMANS_ASKED, "plan"));
        byEvent.put(EventType.RUN_ACCEPTANCE_REQUESTED, meters.counter(Metric.HUMANS_ASKED, "acceptance"));
        byEvent.put(EventType.RUN_ESCALATED, meters.counter(Metric.HUMANS_ASKED, "escalation"));
        byEvent.put(EventType.TASK_HUMAN_REVIEW_REQUESTED, meters.counter(Metric.HUMANS_ASKED, "review"));
        byEvent.put(EventType.STEP_APPROVAL_REQUESTED, meters.counter(Metric.HUMANS_ASKED, "approval"));
        for (ErrorClass each : ErrorClass.values()) {
            stepErrors.put(each.wire(), meters.counter(Metric.STEP_ERRORS, each.wire()));
        }
        for (Transfer.Kind kind : Transfer.Kind.values()) {
            entries.put(kind, meters.counter(Metric.LEDGER_ENTRIES, kind.wire()));
            credits.put(kind, new ExactCounter(meters, Metric.CREDITS, kind.wire()));
        }
        for (BatchPath path : BatchPath.values()) {
            flushes.put(path, meters.counter(Metric.COMMIT_BATCHES, word(path)));
        }
        for (Duty duty : Duty.values()) {
            looks.put(duty, meters.counter(Metric.RECONCILER_SCANS, word(duty)));
            repairs.put(duty, meters.counter(Metric.RECONCILER_REPAIRS, word(duty)));
        }
        triggers.put(OTHER, meters.counter(Metric.RUNS_SUBMITTED, OTHER));
        failures.put(OTHER, meters.counter(Metric.RUNS_FAILED, OTHER));
        flushTime = meters.timer(Metric.COMMIT_BATCH_TIME);
        flushSize = meters.sizes(Metric.COMMIT_BATCH_SIZE);
        overloaded = meters.counter(Metric.OVERLOADED);
        unpriced = meters.counter(Metric.UNPRICED);
        holdsExceeded = meters.counter(Metric.HOLDS_EXCEEDED);
        withFailures = meters.counter(Metric.RUNS_WITH_FAILURES);
        outages = meters.counter(Metric.DATABASE_OUTAGES);
        meters.gauge(Metric.DATABASE_UP, () -> databaseAnswers.get() ? 1 : 0);
    }

    private Map<String, Counter> byState(Metric metric, State[] states) {
        Map<String, Counter> counters = new HashMap<>();
        for (State state : states) {
            counters.put(state.wire(), meters.counter(metric, state.wire()));
        }
        return counters;
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void committed(ChangeSet changes, Instant now) {
        changes.events().forEach(event -> count(changes, event));
        changes.results().forEach(models::used);
        for (Transfer transfer : changes.transfers()) {
            add(entries.get(transfer.kind()), 1);
            Objects.requireNonNull(credits.get(transfer.kind())).add(transfer.amount());
        }
    }

    /** A plan without a gate is ready and approved in one commit. */
    private static boolean approvedAtOnce(ChangeSet changes, Event event) {
        return event.type() == EventType.RUN_PLAN_READY && changes.runs().stream()
                .noneMatch(run -> run.id().equals(event.runId()) && run.state() == RunState.AWAITING_APPROVAL);
    }

    private void count(ChangeSet changes, Event event) {
        if (event.to() != null) {
            add(states(event).get(event.to()), 1);
        }
        add(byEvent.get(event.type()), approvedAtOnce(changes, event) ? 0 : 1);
        switch (event.payload()) {
            case RunPayload.Created created -> few(triggers, Metric.RUNS_SUBMITTED, created.trigger()).increment();
            case RunPayload.Completed completed -> add(withFailures, completed.totals().failures() > 0 ? 1 : 0);
            case RunPayload.Skipped skipped -> add(withFailures, skipped.totals().failures() > 0 ? 1 : 0);
            case RunPayload.Failed failed -> few(failures, Metric.RUNS_FAILED, failed.errorCode()).increment();
            case StepPayload.Failed failed -> add(stepErrors.get(failed.cause().errorClass()), 1);
            case StepPayload.Unpriced tokens -> unpriced.increment(tokens.tokens());
            case StepPayload.HoldExceeded _ -> holdsExceeded.increment();
            case StepPayload.Retrying retrying -> add(stepErrors.get(retrying.cause().errorClass()), 1);
            default -> {
                // counted by its transition, or not at all here
            }
        }
    }

    private Map<String, Counter> states(Event event) {
        if (event.stepId() != null) {
            return steps;
        }
        return event.taskId() != null ? tasks : event.agentId() != null ? agents : runs;
    }

    /** The counter of an external word; the number of words is bounded. */
    private Counter few(Map<String, Counter> known, Metric metric, String word) {
        Counter counter = known.get(word);
        if (counter != null) {
            return counter;
        }
        boolean fit = known.size() < MAX_CODES && word.matches("[A-Za-z][A-Za-z0-9_.]{0,63}");
        return known.computeIfAbsent(fit ? word : OTHER, value -> meters.counter(metric, value));
    }

    private static void add(@Nullable Counter counter, double amount) {
        if (counter != null) {
            counter.increment(amount);
        }
    }

    @Override
    public void batchEnded(BatchPath path, int commands, long nanos) {
        add(flushes.get(path), 1);
        flushTime.record(nanos, TimeUnit.NANOSECONDS);
        flushSize.record(commands);
    }

    @Override
    public void overloaded() {
        overloaded.increment();
    }

    @Override
    public void repaired(Duty duty, int found) {
        add(looks.get(duty), 1);
        add(repairs.get(duty), found);
    }

    @Override
    public void database(boolean answers) {
        if (databaseAnswers.getAndSet(answers) && !answers) {
            outages.increment();
        }
    }
}
