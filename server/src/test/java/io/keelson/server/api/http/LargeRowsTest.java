package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Lists of rows that are nearly as large as a request may be: their pages are bounded in bytes. */
@Breadth.Spread
class LargeRowsTest {

    private static final int ROWS = 12;
    private static final String LARGE = "x".repeat(900_000);
    /** A page of 4 MiB, which its last row may exceed. */
    private static final int MAX_PAGE_BYTES = (4 << 20) + 1_000_000;

    private static ApiServer api;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void schedulesAreListedWithoutMissionsAndLargeInputs() {
        for (int i = 0; i < ROWS; i++) {
            made("/schedules", """
                    {"name": "s%d", "cron": "0 0 1 1 *", "mission": {"name": "m", "plan": {"tasks": [{"id": "a", "steps":
                      [{"tool": "echo", "input": {"text": "%s"}}]}]}}}""".formatted(i, LARGE));
        }
        String large = made("/schedules",
                """
                {"name": "zz", "cron": "0 0 1 1 *", "inputs": {"text": "%s"}, "mission": {"name": "m",
                  "inputs": {"text": {"type": "string"}}, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}}"""
                        .formatted(LARGE));

        List<JsonNode> listed = onePage("/schedules");

        assertThat(listed).hasSize(ROWS + 1).noneMatch(each -> each.has("mission"));
        assertThat(listed.getFirst().get("omitted")).isEmpty();
        assertThat(listed.getFirst().get("inputs").isObject()).isTrue();
        assertThat(listed.getLast().at("/omitted/0").stringValue()).isEqualTo("inputs");
        assertThat(listed.getLast().get("inputs").isNull()).isTrue();
        assertThat(api.get("/api/v1/schedules/" + large).json().at("/inputs/text").stringValue()).isEqualTo(LARGE);
    }

    @Test
    void recipesAndTheirVersionsAreListedWithoutMissions() {
        String id = "";
        for (int i = 0; i < ROWS; i++) {
            id = made("/recipes", recipe("r" + i, i));
        }
        for (int i = 1; i < ROWS; i++) {
            assertThat(api
                    .send("PUT", "/api/v1/recipes/" + id,
                            recipe("r" + (ROWS - 1), ROWS + i).getBytes(StandardCharsets.UTF_8), "Content-Type",
                            "application/json")
                    .status()).isEqualTo(200);
        }

        assertThat(onePage("/recipes")).hasSize(ROWS)
                .allMatch(each -> each.at("/omitted/0").asString("").equals("inputs"));
        assertThat(onePage("/recipes/" + id + "/versions")).hasSize(ROWS).noneMatch(each -> each.has("mission"));
        assertThat(api.get("/api/v1/recipes/" + id + "?version=1").json().at("/mission/inputs/text/default")
                .stringValue()).startsWith(LARGE);
    }

    @Test
    void listsWithLargeMembersEndTheirPages() {
        List<String> runs = IntStream.range(0, ROWS).mapToObj(i -> api.create("""
                {"name": "waits", "start": true, "goal": "%s", "plan": {"tasks": [{"id": "a", "steps": [{"name": "ask",
                  "kind": "approval", "input": {"question": "ok?", "text": "%s"}}]}]}}"""
                .formatted("g".repeat(50_000), LARGE))).toList();
        runs.forEach(run -> api.awaitStep(run, "waiting_approval"));
        String planned = api
                .create("""
                {"name": "planned", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": {"tasks": [%s]}}"""
                        .formatted(String.join(",", IntStream.range(0, 9).mapToObj(i -> """
                        {"id": "t%d", "description": "%s", "steps": [{"tool": "noop"}]}""".formatted(i,
                                "d".repeat(99_000))).toList())));
        api.awaitState(planned, "awaiting_approval");

        assertThat(pages("/inbox")).hasSize(ROWS + 1);
        assertThat(pages("/runs")).hasSize(ROWS + 1);
        assertThat(pages("/board/tasks?source_type=orchestration")).hasSize(ROWS + 1);
        for (String list : List.of("tasks", "steps", "plans", "agents", "attempts", "events", "artifacts")) {
            assertThat(pages("/runs/" + planned + "/" + list)).hasSizeLessThan(100);
        }
    }

    @Test
    void boardIsBoundedAndItsColumnsContinueAsLists() {
        String parent = api.post("/api/v1/board/tasks", "{\"title\": \"parent\"}").json().get("id").asString();
        String task = """
                {"title": "t", "parent_task_id": %s, "status": "%s"}""";
        List<String> statuses = List.of("inbox", "done");
        for (int i = 0; i < 2 * ROWS; i++) {
            assertThat(api.post("/api/v1/board/tasks", task.formatted(parent, statuses.get(i % 2))).status())
                    .isEqualTo(201);
        }
        api.sql("update board_tasks set result = repeat('x', 900000) where parent_task_id = " + parent);
        String children = "parent_task_id=" + parent;
        ApiServer.Answer board = api.get("/api/v1/board?limit=100&" + children);

        assertThat(board.response().body().length).isLessThan(MAX_PAGE_BYTES);
        for (JsonNode column : board.json().get("columns")) {
            String status = column.get("status").stringValue();
            List<String> ids = ids(column.get("items"));
            JsonNode next = column.get("next_cursor");
            assertThat(next.isNull()).isNotEqualTo(statuses.contains(status));
            if (!next.isNull()) {
                ids.addAll(ids(pages("/board/tasks?" + children + "&status=" + status, next.stringValue())));
                assertThat(ids).doesNotHaveDuplicates().hasSize(ROWS);
            }
        }
    }

    private static List<String> ids(Iterable<JsonNode> tasks) {
        List<String> ids = new ArrayList<>();
        tasks.forEach(task -> ids.add(task.get("id").asString()));
        return ids;
    }

    private static String recipe(String name, int version) {
        return """
                {"name": "%s", "inputs": {"text": {"type": "string", "default": "%s%d"}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "echo", "input": {"text": "${ .inputs.text }"}}]}]}}"""
                .formatted(name, LARGE, version);
    }

    private static String made(String list, String body) {
        ApiServer.Answer answer = api.post("/api/v1" + list, body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().get("id").stringValue();
    }

    private static List<JsonNode> onePage(String list) {
        ApiServer.Answer answer = api.get("/api/v1" + list + "?limit=500");
        assertThat(answer.response().body().length).as(list).isLessThan(1 << 20);
        assertThat(answer.json().get("next_cursor").isNull()).isTrue();
        return answer.json().get("items").valueStream().toList();
    }

    /** All items, by as many pages as the list has. */
    private static List<JsonNode> pages(String list) {
        return pages(list, null);
    }

    /** @param after the cursor to begin with; null for the list's beginning */
    private static List<JsonNode> pages(String list, String after) {
        List<JsonNode> items = new ArrayList<>();
        String path = "/api/v1" + list + (list.contains("?") ? "&" : "?") + "limit=500";
        String cursor = after == null ? "" : "&cursor=" + after;
        do {
            ApiServer.Answer answer = api.get(path + cursor);
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            assertThat(answer.response().body().length).as(list).isLessThan(MAX_PAGE_BYTES);
            answer.json().get("items").forEach(items::add);
            JsonNode next = answer.json().get("next_cursor");
            cursor = next.isNull() ? "" : "&cursor=" + next.stringValue();
        } while (!cursor.isEmpty());
        assertThat(items).doesNotHaveDuplicates();
        return items;
    }
}
