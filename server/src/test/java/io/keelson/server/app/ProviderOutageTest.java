package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.MovedClock;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** An outage of a provider that is longer than the retries of a turn. */
class ProviderOutageTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration OUTAGE = Duration.ofMinutes(5);
    /** Two retries, and pauses of 1, 150 and 150 seconds. */
    private static final String SCRIPT = """
            rules:
              - {name: broken, when: {turn: 7, first: 3}, answer: {status: 500}}
              - {name: down, when: {turn: 7, first: 2}, answer: {status: 503, headers: {retry-after: "150"}}}
              - {name: end, when: {turn: 7}, answer: {text: done}}
              - {name: work, answer: {calls: [{tool: echo, input: {n: 1}}]}}
            """;

    @Test
    void aRunGoesOnWithTheTurnInWhichItsProviderWasDown(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        MovedClock clock = new MovedClock(url);
        try (TestModel model = new TestModel(SCRIPT)) {
            Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      m: {wire: openai-chat, base_url: "%s/v1", family: f, context_tokens: 90000, model: m,
                          max_output_tokens: 500, prices: {input: 1, output: 1}}
                    """.formatted(model.uri("")));
            try (Server server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR",
                    folder.resolve("data").toString(), "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL",
                    TestDatabase.text(url), "KEELSON_MODELS", "models.yaml", "KEELSON_LEASE_SECONDS", "300"),
                    folder, folder), new Server.Clocks(Clock.systemUTC(), clock))) {
                Keelson keelson =
                        Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
                Run run = keelson.runs().create(RunRequest.of(Json.read("""
                        {"name": "one", "start": true, "plan": {"tasks": [{"id": "t", "title": "Work",
                         "tools_needed": ["echo"],
                         "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "m"}}]}}""")));
                sitOut(keelson, clock, run);

                assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state()).isEqualTo("completed");
                assertThat(model.journal().stream().map(line -> line.get("turn").intValue() + " "
                        + line.get("rule").stringValue())).containsExactly("1 work", "2 work", "3 work", "4 work",
                                "5 work", "6 work", "7 broken", "7 broken", "7 broken", "7 down", "7 down", "7 end");
                List<Event> events = events(keelson, run);
                Instant down = events.stream().filter(event -> event.eventType().equals("step_deferred")).findFirst()
                        .orElseThrow().createdAt();
                assertThat(Duration.between(down, events.getLast().createdAt())).isGreaterThan(OUTAGE);
                assertThat(events).extracting(Event::eventType).doesNotContain("task_retrying", "run_escalated");
                assertThat(keelson.runs().steps(run.id()).getLast().attempt()).isEqualTo(1);
            }
        }
    }

    /** Moves the clock by each pause of the run, until it has ended. */
    private static void sitOut(Keelson keelson, MovedClock clock, Run run) throws Exception {
        int waited = 0;
        while (!keelson.runs().get(run.id()).ended()) {
            int known = waited;
            List<Event> pauses = Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(
                    () -> events(keelson, run).stream().filter(event -> event.eventType().equals("step_deferred")
                            || event.eventType().startsWith("run_")).toList(),
                    found -> found.size() > known);
            for (Event pause : pauses.subList(known, pauses.size())) {
                JsonNode until = pause.payload().path("until");
                if (until.isString()) {
                    clock.move(Duration.between(pause.createdAt(), Instant.parse(until.stringValue())));
                }
            }
            waited = pauses.size();
        }
    }

    private static List<Event> events(Keelson keelson, Run run) {
        return keelson.runs().events(run.id(), 0, 500).items();
    }
}
