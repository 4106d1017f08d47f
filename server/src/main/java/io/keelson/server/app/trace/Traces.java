package io.keelson.server.app.trace;

import io.keelson.server.annex.model.wiring.ModelObserver;
import io.keelson.server.api.http.support.RequestListener;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.outlet.webhook.DeliveryObserver;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Exports committed transitions as spans, configured by the usual variables of OpenTelemetry. */
public final class Traces implements AutoCloseable {

    private static final String NONE = "none";
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

    private final OpenTelemetrySdk sdk;
    private final Spans spans;
    private final RequestSpans requestSpans;
    private final boolean genAi;

    /** Whether the variables ask for traces. */
    public static boolean wanted(Map<String, String> variables) {
        String exporter = variables.getOrDefault("OTEL_TRACES_EXPORTER", "");
        boolean somewhere = !exporter.isEmpty() || variables.containsKey("OTEL_EXPORTER_OTLP_ENDPOINT")
                || variables.containsKey("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        return somewhere && !exporter.equals(NONE)
                && !Boolean.parseBoolean(variables.getOrDefault("OTEL_SDK_DISABLED", ""));
    }

    /**
     * @param variables variables of OpenTelemetry, by their names in the environment
     * @param genAi whether spans follow the conventions for generative AI
     */
    public Traces(Map<String, String> variables, boolean genAi) {
        SpanIds ids = new SpanIds();
        Map<String, String> properties = new HashMap<>(Map.of("otel.service.name", "keelson", "otel.metrics.exporter",
                NONE, "otel.logs.exporter", NONE, "otel.traces.exporter", "otlp", "otel.exporter.otlp.protocol",
                "http/protobuf"));
        variables.forEach((name, value) -> properties.put(name.toLowerCase(Locale.ROOT).replace('_', '.'), value));
        sdk = AutoConfiguredOpenTelemetrySdk.builder().disableShutdownHook()
                .addPropertiesCustomizer(given -> properties)
                .addTracerProviderCustomizer((provider, given) -> provider.setIdGenerator(ids)).build()
                .getOpenTelemetrySdk();
        this.genAi = genAi;
        spans = new Spans(sdk.getTracer("io.keelson"), ids, genAi);
        requestSpans = new RequestSpans(sdk.getTracer("io.keelson"), ids);
    }

    /** Creates spans of an engine's commits. */
    public Observer engine() {
        return spans;
    }

    /** Trace positions of runs and steps. */
    public Tracing tracing() {
        return spans;
    }

    /**
     * Creates spans of answers of models to programs.
     *
     * @param next gets all that is observed
     */
    public ModelObserver models(ModelObserver next) {
        return new ProgramSpans(next, sdk.getTracer("io.keelson"), spans, genAi);
    }

    /** Creates spans of answered requests. */
    public RequestListener http() {
        return requestSpans;
    }

    /** Creates spans of deliveries. */
    public DeliveryObserver deliveries() {
        return requestSpans;
    }

    /** Exports the remaining spans. */
    @Override
    public void close() {
        sdk.getSdkTracerProvider().shutdown().join(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    }
}
