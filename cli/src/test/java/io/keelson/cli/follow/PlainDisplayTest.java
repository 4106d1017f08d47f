package io.keelson.cli.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.cli.view.RunModel;
import io.keelson.client.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlainDisplayTest {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    private final StringWriter out = new StringWriter();
    private final List<String> notes = new ArrayList<>();
    private final PlainDisplay display = new PlainDisplay(new PrintWriter(out), notes::add);
    private final RunModel model = new RunModel(Json.to(Json.of(Map.of("id", "r", "name", "report", "state", "running",
            "stateType", "running", "createdAt", NOW, "startedAt", NOW)), Run.class));

    @Test
    void aSlowServerIsNotedOnceAndNotCalledUnreachable() {
        for (int answer = 0; answer < 3; answer++) {
            display.slow(Duration.ofSeconds(2));
            display.slow(Duration.ofSeconds(3));
            display.show(model, NOW);
        }

        assertThat(notes).containsExactly("the server answers slowly");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void eachLossOfTheServerIsNotedWithItsEnd() {
        for (int loss = 0; loss < 2; loss++) {
            display.unanswered(Duration.ofSeconds(2));
            display.unanswered(Duration.ofSeconds(3));
            display.show(model, NOW);
        }

        assertThat(notes).containsExactly("the server is not reachable, retrying", "the server is reachable again",
                "the server is not reachable, retrying", "the server is reachable again");
        assertThat(out.toString()).isEmpty();
    }
}
