package io.keelson.server.app.trace;

import io.keelson.core.run.TraceParent;
import io.keelson.server.api.http.support.RequestListener;
import io.keelson.server.outlet.webhook.DeliveryObserver;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.Clock;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Creates a span for each answered request and each delivery attempt. Excludes health checks and metrics. */
final class RequestSpans implements RequestListener, DeliveryObserver {

    private static final Set<String> PROBES = Set.of("/healthz", "/readyz", "/metrics");
    private static final int SERVER_ERROR = 500;

    private final Tracer tracer;
    private final SpanIds ids;
    private final Clock clock = Clock.getDefault();

    RequestSpans(Tracer tracer, SpanIds ids) {
        this.tracer = tracer;
        this.ids = ids;
    }

    @Override
    public void answered(String method, String route, int status, long nanos, @Nullable TraceParent caller) {
        if (PROBES.contains(route)) {
            return;
        }
        SpanBuilder span = begun(method + " " + route, SpanKind.SERVER, nanos, caller);
        Spans.put(span, TraceAttribute.HTTP_METHOD, method);
        Spans.put(span, TraceAttribute.HTTP_ROUTE, route);
        span.setAttribute(TraceAttribute.HTTP_STATUS.sent(), status);
        Span made = span.startSpan();
        if (status >= SERVER_ERROR) {
            made.setStatus(StatusCode.ERROR);
        }
        made.end();
    }

    /** Its id is chosen before the span is created, because the request contains it. */
    @Override
    public @Nullable TraceParent place(@Nullable TraceParent run) {
        String span = ids.fresh();
        return run == null ? new TraceParent(ids.freshTrace(), span, true) : run.at(span);
    }

    @Override
    public void attempted(Attempt attempt) {
        SpanBuilder span = begun("deliver " + attempt.type(), SpanKind.CLIENT, attempt.nanos(), attempt.run());
        Spans.put(span, TraceAttribute.HTTP_METHOD, "POST");
        Spans.put(span, TraceAttribute.WEBHOOK_ID, attempt.endpoint());
        Spans.put(span, TraceAttribute.OUTCOME, attempt.outcome().name().toLowerCase(Locale.ROOT));
        Integer status = attempt.status();
        if (status != null) {
            span.setAttribute(TraceAttribute.HTTP_STATUS.sent(), status);
        }
        TraceParent place = attempt.place();
        Span made = place == null ? span.startSpan() : ids.under(place.trace(), place.span(), span::startSpan);
        if (attempt.outcome() != Outcome.DELIVERED) {
            made.setStatus(StatusCode.ERROR);
        }
        made.end();
    }

    private SpanBuilder begun(String name, SpanKind kind, long nanos, @Nullable TraceParent parent) {
        SpanBuilder span = tracer.spanBuilder(name).setSpanKind(kind).setStartTimestamp(clock.now() - nanos,
                TimeUnit.NANOSECONDS);
        Spans.below(span, parent);
        return span;
    }
}
