package io.keelson.server.app.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.GeneratedDocs;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TracesDocTest {

    @Test
    void theDocumentListsEveryAttribute() {
        String rows = Arrays.stream(TraceAttribute.values())
                .map(each -> "| `" + each.sent() + "` | " + each.spans().collect(Collectors.joining(", ")) + " | "
                        + each.meaning() + " |\n")
                .collect(Collectors.joining());
        GeneratedDocs.check("docs/reference/traces.md", "attributes",
                "| attribute | of | meaning |\n|---|---|---|\n" + rows);
    }

    @Test
    void tracesAreOffByDefault() {
        assertThat(Traces.wanted(Map.of())).isFalse();
        assertThat(Traces.wanted(Map.of("OTEL_SERVICE_NAME", "x"))).isFalse();
        assertThat(Traces.wanted(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x", "OTEL_TRACES_EXPORTER", "none")))
                .isFalse();
        assertThat(Traces.wanted(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x", "OTEL_SDK_DISABLED", "true")))
                .isFalse();
        assertThat(Traces.wanted(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x"))).isTrue();
        assertThat(Traces.wanted(Map.of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://x"))).isTrue();
        assertThat(Traces.wanted(Map.of("OTEL_TRACES_EXPORTER", "otlp"))).isTrue();
    }
}
