package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Digests name what the events are about, and events are read backwards. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FeedDigestTest {

    private static final String MANY = """
            {"name": "many", "start": true, "plan": {"tasks": [
              {"id": "each", "for_each": "${ [range(20)] }", "steps": [{"name": "one", "tool": "noop"}]}]}}""";

    private ApiServer api;
    private String first;
    private String second;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        first = api.create(MANY);
        second = api.create(MANY);
        api.awaitState(first, "completed");
        api.awaitState(second, "completed");
        api.awaitFeed();
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private List<JsonNode> digests(String query) {
        String text = api.get("/api/v1/events/stream?after=0&wait_ms=700" + query).text();
        return Stream.of(text.split("\n")).filter(line -> line.startsWith("data: "))
                .map(line -> Json.read(line.substring("data: ".length()))).toList();
    }

    private long events(String run) {
        return api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").size();
    }

    @Test
    void aDigestReplacesAllEventsOfItsTime() {
        List<JsonNode> digests = digests("&digest_ms=200");
        assertThat(digests).hasSizeBetween(1, 4).allMatch(each -> each.get("type").stringValue().equals("digest"));
        long counted = 0;
        Set<String> tasks = new HashSet<>();
        for (JsonNode digest : digests) {
            for (JsonNode run : digest.get("runs")) {
                if (run.get("run_id").stringValue().equals(first)) {
                    counted += run.get("events").longValue();
                    run.get("task_ids").forEach(task -> tasks.add(task.stringValue()));
                }
            }
        }
        assertThat(counted).isEqualTo(events(first));
        assertThat(tasks).hasSize(21);
    }

    @Test
    void severalRunsMayBeFollowed() {
        assertThat(digests("&digest_ms=200&run_id=" + first).toString()).contains(first).doesNotContain(second);
        assertThat(digests("&digest_ms=200&run_id=" + first + "&run_id=" + second).toString()).contains(first, second);
        assertThat(api.get("/api/v1/events/stream?run_id=00000000-0000-7000-8000-00000000dead").status())
                .isEqualTo(404);
    }

    @Test
    void eventsAreListedNewestFirst() {
        JsonNode page = api.get("/api/v1/events?limit=30&run_id=" + first).json();
        List<Long> ids = page.get("items").valueStream().map(each -> each.get("id").longValue()).toList();
        assertThat(ids).hasSize(30).isSortedAccordingTo((a, b) -> Long.compare(b, a));
        assertThat(page.at("/items/0/event_type").stringValue()).isEqualTo("run_completed");
        Set<Long> all = new HashSet<>(ids);
        JsonNode next = page;
        while (!next.get("next_cursor").isNull()) {
            next = api
                    .get("/api/v1/events?limit=30&run_id=" + first + "&cursor=" + next.get("next_cursor").stringValue())
                    .json();
            next.get("items").forEach(each -> assertThat(all.add(each.get("id").longValue())).isTrue());
        }
        assertThat(all).hasSize((int) events(first));
        JsonNode ends = api.get("/api/v1/events?types=run_completed,run_started").json();
        assertThat(ends.get("items").size()).isEqualTo(4);
        assertThat(api.get("/api/v1/events?before=" + ids.getLast() + "&run_id=" + first).json().at("/items/0/id")
                .longValue()).isLessThan(ids.getLast());
        assertThat(api.get("/api/v1/events?types=nonsense").status()).isEqualTo(400);
    }

    /** One page looks through at most 2,000,000 ids, which are of all workspaces. */
    @Test
    void rareEventsFarBackAreFoundOverSeveralPages() {
        api.sql("select setval('run_event_packs_id_seq', nextval('run_event_packs_id_seq') + 3000000)");
        String rare = "/api/v1/events?types=run_completed&run_id=" + first;
        JsonNode page = api.get(rare).json();
        assertThat(page.get("items")).isEmpty();
        JsonNode next = api.get(rare + "&cursor=" + page.get("next_cursor").stringValue()).json();
        assertThat(next.get("items")).hasSize(1);
    }
}
