package io.keelson.server.app.trace;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.run.Event;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.execute.Tracing;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a span of each run's attempt, each task's attempt and each lease on a step, when its end is committed; a
 * rolled-back end has no span.
 */
final class Spans implements Observer, Tracing {

    private static final Set<String> RUN_ENDS = Arrays.stream(RunState.values()).filter(RunState::terminal)
            .map(RunState::wire).collect(Collectors.toSet());
    private static final Set<String> TASK_ENDS = Arrays.stream(TaskState.values()).filter(TaskState::terminal)
            .map(TaskState::wire).collect(Collectors.toSet());

    private final Tracer tracer;
    private final SpanIds ids;
    private final boolean genAi;
    private final OpenSpans openSpans = new OpenSpans();

    /** @param genAi whether spans follow the conventions for generative AI */
    Spans(Tracer tracer, SpanIds ids, boolean genAi) {
        this.tracer = tracer;
        this.genAi = genAi;
        this.ids = ids;
    }

    @Override
    public void committed(ChangeSet changes, Instant now) {
        changes.started().forEach((step, run) -> openSpans.add(step.id(), step.leaseEpoch(),
                new OpenSpans.Start(now, step.attempt())));
        Map<UUID, TraceParent> given = new HashMap<>();
        changes.runs().stream().map(RunRow::trace).filter(trace -> trace.given() != null)
                .forEach(trace -> given.put(trace.run(), trace.given()));
        Map<UUID, RunTrace> traces = new HashMap<>();
        for (Event event : changes.events()) {
            traces.put(event.runId(), new RunTrace(event.runId(), event.attempt(), given.get(event.runId())));
        }
        if (!changes.results().isEmpty()) {
            steps(changes, traces, now);
        }
        for (Event event : changes.events()) {
            if (event.to() == null || event.agentId() != null && event.taskId() == null || event.stepId() != null) {
                continue;
            }
            if (event.taskId() == null && RUN_ENDS.contains(event.to())) {
                changes.runs().stream().filter(run -> run.id().equals(event.runId())).forEach(run -> run(run, event,
                        new RunTrace(run.id(), event.attempt(), given.get(run.id()))));
            } else if (event.taskId() != null && TASK_ENDS.contains(event.to())) {
                Stream.concat(changes.newTasks().stream(), changes.tasks().stream())
                        .filter(task -> task.id().equals(event.taskId())).forEach(task -> task(task, event,
                                new RunTrace(event.runId(), event.attempt(), given.get(event.runId()))));
            }
        }
    }

    private void steps(ChangeSet changes, Map<UUID, RunTrace> traces, Instant now) {
        Map<UUID, StepRow> rows = new HashMap<>();
        Stream.concat(changes.newSteps().stream(), changes.steps().stream()).forEach(step -> rows.put(step.id(), step));
        Map<UUID, String> models = new HashMap<>();
        for (Transfer transfer : changes.transfers()) {
            if (transfer.stepId() != null && transfer.use() != null && transfer.use().model() != null) {
                models.put(transfer.stepId(), transfer.use().model());
            }
        }
        for (StepResult result : changes.results()) {
            StepRow step = rows.get(result.stepId());
            OpenSpans.Start start = openSpans.remove(result.stepId(), result.epoch());
            if (step != null) {
                step(step, result, start, traces.getOrDefault(result.runId(), new RunTrace(result.runId(), 1, null)),
                        models.get(result.stepId()), now);
            }
        }
    }

    private void step(StepRow step, StepResult result, OpenSpans.@Nullable Start start, RunTrace trace,
            @Nullable String model, Instant now) {
        Instant first = step.startedAt() == null ? now : step.startedAt();
        GenAiNames names = genAi ? GenAiNames.of(step, model == null ? result.model() : model) : GenAiNames.NONE;
        SpanBuilder span = tracer.spanBuilder(names.or("step " + step.name()))
                .setStartTimestamp(start == null ? first : start.at());
        names.describe(span, result.tokens());
        about(span, trace);
        task(span, step.task());
        put(span, TraceAttribute.STEP_ID, step.id());
        put(span, TraceAttribute.STEP_NAME, step.name());
        put(span, TraceAttribute.TOOL, step.spec().tool());
        if (start != null) {
            span.setAttribute(TraceAttribute.ATTEMPT.sent(), start.attempt());
        }
        span.setAttribute(TraceAttribute.EPOCH.sent(), result.epoch());
        put(span, TraceAttribute.HOLDER, result.holder());
        put(span, TraceAttribute.OUTCOME, result.outcome());
        if (!result.tokens().none()) {
            span.setAttribute(TraceAttribute.TOKENS.sent(), result.tokens().total());
        }
        put(span, TraceAttribute.MODEL, model);
        TraceParent run = ofRun(trace);
        end(span, run.at(SpanIds.span(step.task().id(), step.task().attempt())),
                run.at(SpanIds.span(step.id(), result.epoch())), result.errorCode(), now);
    }

    private void task(TaskRow task, Event event, RunTrace trace) {
        Instant start = task.startedAt();
        if (start == null) {
            return;
        }
        GenAiNames names = genAi ? GenAiNames.of(task) : GenAiNames.NONE;
        SpanBuilder span = tracer.spanBuilder(names.or("task " + task.key())).setStartTimestamp(start);
        names.describe(span, Tokens.NONE);
        about(span, trace);
        task(span, task);
        span.setAttribute(TraceAttribute.TASK_ATTEMPT.sent(), task.attempt());
        put(span, TraceAttribute.STATE, event.to());
        boolean failed = TaskState.FAILED.wire().equals(event.to());
        put(span, TraceAttribute.ERROR_CLASS, failed ? task.errorClass() : null);
        TraceParent run = ofRun(trace);
        end(span, run, run.at(SpanIds.span(task.id(), task.attempt())),
                failed ? String.valueOf(task.errorCode()) : null, event.at());
    }

    private void run(RunRow run, Event event, RunTrace trace) {
        Instant start = run.startedAt();
        if (start == null) {
            return;
        }
        SpanBuilder span = tracer.spanBuilder("run " + run.name()).setStartTimestamp(start);
        about(span, trace);
        put(span, TraceAttribute.RUN_NAME, run.name());
        put(span, TraceAttribute.STATE, event.to());
        end(span, trace.given(), ofRun(trace),
                event.payload() instanceof RunPayload.Failed failure ? failure.errorCode() : null, event.at());
    }

    @Override
    public TraceParent ofRun(RunTrace trace) {
        String span = SpanIds.span(trace.run(), trace.attempt());
        TraceParent given = trace.given();
        return given == null ? new TraceParent(SpanIds.trace(trace.run(), trace.attempt()), span, true)
                : given.at(span);
    }

    @Override
    public TraceParent ofStep(RunTrace trace, UUID step, int leaseEpoch) {
        return ofRun(trace).at(SpanIds.span(step, leaseEpoch));
    }

    private static void about(SpanBuilder span, RunTrace trace) {
        put(span, TraceAttribute.RUN_ID, trace.run());
        span.setAttribute(TraceAttribute.RUN_ATTEMPT.sent(), trace.attempt());
    }

    private static void task(SpanBuilder span, TaskRow task) {
        put(span, TraceAttribute.TASK_ID, task.id());
        put(span, TraceAttribute.TASK_KEY, task.key());
    }

    /** @param parent null for the first one of its trace */
    static void below(SpanBuilder builder, @Nullable TraceParent parent) {
        if (parent == null) {
            builder.setNoParent();
        } else {
            builder.setParent(Context.root().with(Span.wrap(SpanContext.createFromRemoteParent(parent.trace(),
                    parent.span(), parent.sampled() ? TraceFlags.getSampled() : TraceFlags.getDefault(),
                    TraceState.getDefault()))));
        }
    }

    static void put(SpanBuilder span, TraceAttribute attribute, @Nullable Object value) {
        if (value != null) {
            span.setAttribute(attribute.sent(), value.toString());
        }
    }

    private void end(SpanBuilder builder, @Nullable TraceParent parent, TraceParent span, @Nullable String error,
            Instant at) {
        below(builder, parent);
        put(builder, TraceAttribute.ERROR_CODE, error);
        Span made = ids.under(span.trace(), span.span(), builder::startSpan);
        if (error != null) {
            made.setStatus(StatusCode.ERROR, error);
        }
        made.end(at);
    }

    /** When steps began that have not ended, as far as this server has seen it; the oldest are forgotten. */
    private static final class OpenSpans {

        private static final int MAX_SPANS = 50_000;

        private record Lease(UUID step, int epoch) {}

        /** @param attempt of the step */
        record Start(Instant at, int attempt) {}

        private final Map<Lease, Start> starts = new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Lease, Start> eldest) {
                return size() > MAX_SPANS;
            }
        };

        synchronized void add(UUID step, int epoch, Start start) {
            starts.put(new Lease(step, epoch), start);
        }

        /** Null when it began elsewhere. */
        synchronized @Nullable Start remove(UUID step, int epoch) {
            return starts.remove(new Lease(step, epoch));
        }
    }
}
