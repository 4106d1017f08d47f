package io.keelson.server.app.metrics;

import io.keelson.GeneratedDocs;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class MetricsDocTest {

    @Test
    void theDocumentListsEveryMetric() {
        String rows = Arrays.stream(Metric.values())
                .map(metric -> "| `" + metric.served() + "` | " + metric.kind() + " | "
                        + metric.labels().stream().map(label -> "`" + label + "`").collect(Collectors.joining(", "))
                        + " | " + metric.meaning() + " |\n")
                .collect(Collectors.joining());
        GeneratedDocs.check("docs/reference/metrics.md", "metrics",
                "| name | kind | labels | meaning |\n|---|---|---|---|\n" + rows);
    }
}
