package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Lists of runs find trouble, and sort on the server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RunsListTest {

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        run("ask", "approval", "{\"kind\": \"approval\", \"input\": {\"question\": \"?\"}}");
        run("paid", "signal", "{\"tool\": \"signal.wait\", \"input\": {\"name\": \"paid\"}}");
        run("later", "timer", "{\"tool\": \"wait\", \"input\": {\"seconds\": 9000}}");
        run("again", "retry", "{\"tool\": \"fail\", \"input\": {\"times\": 3}, \"retry\": {\"max_attempts\": 4,"
                + " \"base_delay_seconds\": 600, \"max_delay_seconds\": 900}}");
        for (int i = 0; i < 4; i++) {
            api.awaitState(
                    run("done", "cost", "{\"tool\": \"noop\", \"input\": {\"cost\": 0.0" + (3 * i % 4 + 1) + "}}"),
                    "completed");
        }
        api.awaitSteps(byName("ask"), "waiting_approval", 1);
        api.awaitSteps(byName("paid"), "waiting", 1);
        api.awaitSteps(byName("later"), "waiting", 1);
        api.awaitSteps(byName("again"), "awaiting_retry", 1);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private String run(String name, String tag, String step) {
        return api.create("""
                {"name": "%s", "tags": ["%s"], "start": true, "plan": {"tasks": [{"id": "t", "steps": [%s]}]}}"""
                .formatted(name, tag, step.replaceFirst("[{]", "{\"name\": \"s\", ")));
    }

    private String byName(String name) {
        return api.get("/api/v1/runs?name=" + name).json().at("/items/0/id").stringValue();
    }

    private static List<String> names(JsonNode page) {
        return page.get("items").valueStream().map(each -> each.get("name").stringValue()).toList();
    }

    private List<String> waiting(String query) {
        return names(api.get("/api/v1/runs?" + query).json());
    }

    @Test
    void runsAreFoundByTheirWait() {
        assertThat(waiting("waits_for=human")).containsExactly("ask");
        assertThat(waiting("waits_for=signal")).containsExactly("paid");
        assertThat(waiting("waits_for=timer")).containsExactly("later");
        assertThat(waiting("waits_for=retry")).containsExactly("again");
        assertThat(waiting("waits_for=human&waits_for=retry")).containsExactly("again", "ask");
        assertThat(waiting("waits_for=money")).isEmpty();
        JsonNode now = api.get("/api/v1/runs?waits_for=human").json().at("/items/0/now");
        assertThat(now.get("code").stringValue()).isEqualTo("APPROVAL");
        assertThat(now.get("since").stringValue()).endsWith("Z");
        assertThat(api.get("/api/v1/runs?waits_for=human&sort=name").status()).isEqualTo(400);
    }

    @Test
    void everyPageOfAFilterIsReached() {
        List<String> found = new ArrayList<>();
        String cursor = "";
        do {
            JsonNode page = api.get("/api/v1/runs?waits_for=human&waits_for=signal&limit=1" + cursor).json();
            found.addAll(names(page));
            cursor = page.get("next_cursor").isNull() ? null : "&cursor=" + page.get("next_cursor").stringValue();
        } while (cursor != null);
        assertThat(found).containsExactly("paid", "ask");
    }

    @Test
    void listsAreSortedOnTheServerInPages() {
        List<Double> costs = Stream.of("", "1", "2").flatMap(part -> page("sort=-cost&tag=cost&limit=2", part))
                .map(each -> each.get("total_cost").doubleValue()).toList();
        assertThat(costs).containsExactly(0.04, 0.03, 0.02, 0.01);
        assertThat(names(api.get("/api/v1/runs?sort=name").json())).isSorted();
        assertThat(names(api.get("/api/v1/runs?sort=-name").json()).getFirst()).isEqualTo("paid");
        assertThat(api.get("/api/v1/runs?sort=-progress").json().at("/items/0/name").stringValue()).isEqualTo("done");
        assertThat(api.get("/api/v1/runs?sort=colour").status()).isEqualTo(400);
    }

    private Stream<JsonNode> page(String query, String part) {
        JsonNode page = api.get("/api/v1/runs?" + query).json();
        for (int i = 0; i < (part.isEmpty() ? 0 : Integer.parseInt(part)); i++) {
            if (page.get("next_cursor").isNull()) {
                return Stream.of();
            }
            page = api.get("/api/v1/runs?" + query + "&cursor=" + page.get("next_cursor").stringValue()).json();
        }
        return page.get("items").valueStream();
    }
}
