package io.keelson.server.app.trace;

import io.keelson.core.run.TraceParent;
import io.keelson.server.annex.model.wiring.ModelObserver;
import io.keelson.server.engine.execute.Tracing;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.Clock;
import java.util.concurrent.TimeUnit;

/**
 * Creates a span for each answer of a model to a program that was recorded, below the span that the program names or else below the lease of
 * its step.
 */
final class ProgramSpans implements ModelObserver {

    private final ModelObserver next;
    private final Tracer tracer;
    private final Tracing tracing;
    private final boolean genAi;
    private final Clock clock = Clock.getDefault();

    /**
     * @param next gets all that is observed
     * @param genAi whether spans follow the conventions for generative AI
     */
    ProgramSpans(ModelObserver next, Tracer tracer, Tracing tracing, boolean genAi) {
        this.next = next;
        this.tracer = tracer;
        this.tracing = tracing;
        this.genAi = genAi;
    }

    @Override
    public void onRecord(Answered request) {
        GenAiNames names = genAi ? new GenAiNames(request.embeds() ? "embeddings" : "chat", request.model(), null)
                : GenAiNames.NONE;
        SpanBuilder span = tracer.spanBuilder(names.or("model " + request.model())).setSpanKind(SpanKind.CLIENT)
                .setStartTimestamp(clock.now() - request.took().toNanos(), TimeUnit.NANOSECONDS);
        names.describe(span, request.tokens());
        Spans.put(span, TraceAttribute.RUN_ID, request.lease().runId());
        span.setAttribute(TraceAttribute.RUN_ATTEMPT.sent(), request.run().attempt());
        Spans.put(span, TraceAttribute.TASK_ID, request.lease().taskId());
        Spans.put(span, TraceAttribute.STEP_ID, request.lease().stepId());
        span.setAttribute(TraceAttribute.EPOCH.sent(), request.lease().epoch());
        Spans.put(span, TraceAttribute.MODEL, request.model());
        if (!request.tokens().none()) {
            span.setAttribute(TraceAttribute.TOKENS.sent(), request.tokens().total());
        }
        TraceParent program = request.program();
        Spans.below(span, program == null
                ? tracing.ofStep(request.run(), request.lease().stepId(), request.lease().epoch())
                : program);
        span.startSpan().end();
        next.onRecord(request);
    }

    @Override
    public void onAnswer(String model, long firstTextMillis) {
        next.onAnswer(model, firstTextMillis);
    }

    @Override
    public void onPause(String model) {
        next.onPause(model);
    }

    @Override
    public void onRequest(String model) {
        next.onRequest(model);
    }

    @Override
    public void onReplay(String model) {
        next.onReplay(model);
    }

    @Override
    public void onDivergence(String model) {
        next.onDivergence(model);
    }

    @Override
    public void onRefusedHold(String model) {
        next.onRefusedHold(model);
    }

    @Override
    public void onTooMany(String model) {
        next.onTooMany(model);
    }

    @Override
    public void onUnread(String model) {
        next.onUnread(model);
    }
}
