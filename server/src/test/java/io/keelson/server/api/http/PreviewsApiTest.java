package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What browsers show before the whole is fetched or exists: parts of artifacts, reports as pages, times of schedules. */
class PreviewsApiTest {

    private static final String HOSTILE = "<img src=x onerror=alert(1)> **bold** [go](javascript:alert(2)) "
            + "![seen](https://elsewhere.example/x.png)";
    private static final String CONTENT = "0123456789";

    @TempDir
    private static Path folder;

    private static ApiServer api;
    private static String artifact;
    private static String report;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
        String run = api
                .create("""
                {"name": "parts", "goal": %s, "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "artifact.write", "input": {"name": "x.html", "content": "%s", "content_type": "text/html"}}]}]}}"""
                        .formatted(Json.string(HOSTILE), CONTENT));
        api.awaitState(run, "completed");
        String path = "/api/v1/runs/" + run + "/artifacts";
        artifact = path + "/" + api.get(path).json().at("/items/0/id").stringValue() + "/content";
        report = "/api/v1/reports/" + api.get("/api/v1/reports?run_id=" + run).json().get("items").valueStream()
                .filter(each -> each.get("task_id").isNull()).findFirst().orElseThrow().get("id").stringValue();
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @ParameterizedTest
    @CsvSource({"bytes=0-3, 206, 0123, bytes 0-3/10", "bytes=4-, 206, 456789, bytes 4-9/10",
            "bytes=-2, 206, 89, bytes 8-9/10", "bytes=-99, 206, 0123456789, bytes 0-9/10",
            "bytes=8-999999999999999999, 206, 89, bytes 8-9/10", "bytes=10-, 416, , bytes */10",
            "bytes=-0, 416, , bytes */10", "'bytes=0-1,3-4', 200, 0123456789,", "bytes=3-1, 200, 0123456789,",
            "bytes=-, 200, 0123456789,", "lines=1-2, 200, 0123456789,"})
    void partOfAnArtifactIsItsRange(String range, int status, String bytes, String header) {
        ApiServer.Answer answer = api.get(artifact, "Range", range);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.response().headers().firstValue("Content-Range").orElse(null)).isEqualTo(header);
        if (bytes != null) {
            assertThat(answer.text()).isEqualTo(bytes);
            assertThat(answer.header("Accept-Ranges")).isEqualTo("bytes");
        }
    }

    @Test
    void rangeOfAnotherContentIsTheWhole() {
        String tag = api.get(artifact).header("ETag");

        assertThat(api.get(artifact, "Range", "bytes=0-0", "If-Range", tag).text()).isEqualTo("0");
        assertThat(api.get(artifact, "Range", "bytes=0-0", "If-Range", "\"other\"").text()).isEqualTo(CONTENT);
    }

    @Test
    void artifactIsSavedUnlessItIsAskedForInlineAndNeverRuns() {
        ApiServer.Answer saved = api.get(artifact);
        ApiServer.Answer shown = api.get(artifact + "?inline=true");

        assertThat(saved.header("Content-Disposition")).startsWith("attachment");
        assertThat(saved.header("Content-Security-Policy")).isEqualTo("sandbox; default-src 'none'");
        assertThat(shown.header("Content-Disposition")).startsWith("inline");
        assertThat(shown.header("Content-Security-Policy")).startsWith("sandbox; default-src 'none'")
                .contains("frame-ancestors 'self'").doesNotContain("script").doesNotContain("allow-");
        assertThat(shown.header("Content-Type")).startsWith("text/html");
        assertThat(shown.header("X-Content-Type-Options")).isEqualTo("nosniff");
    }

    @Test
    void reportIsAPageInWhichNothingRuns() {
        ApiServer.Answer page = api.get(report, "Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8");

        assertThat(page.header("Content-Type")).startsWith("text/html");
        assertThat(page.text()).contains("<h1>parts</h1>", "<blockquote>", "&lt;img src=x onerror=alert(1)&gt;",
                "<strong>bold</strong>", "href=\"https://elsewhere.example/x.png\"", "target=\"_blank\"",
                "rel=\"noopener noreferrer nofollow\"").doesNotContain("<img", "javascript:", "<script");
        assertThat(page.header("Content-Security-Policy")).contains("default-src 'none'", "frame-ancestors 'self'")
                .doesNotContain("unsafe").doesNotContain("allow-scripts").doesNotContain("allow-same-origin");
        assertThat(api.get(report, "Accept", "text/markdown").text()).startsWith("# parts\n");
        assertThat(api.get(report, "Accept", "*/*").json().get("title").stringValue()).isEqualTo("parts");
    }

    private static JsonNode preview(String body) {
        ApiServer.Answer answer = api.post("/api/v1/schedules:preview", body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items");
    }

    @Test
    void previewHasTheTimesOfAScheduleThatIsNotThere() {
        assertThat(preview("""
                {"cron": "30 2 * * *", "time_zone": "Europe/Berlin", "after": "2026-10-24T12:00:00Z", "count": 2}"""))
                .extracting(JsonNode::stringValue)
                .containsExactly("2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z");
        assertThat(preview("""
                {"cron": "@daily", "after": "2026-01-01T00:00:00Z", "end_at": "2026-01-03T00:00:00Z", "count": 9}"""))
                .hasSize(2);
        ApiServer.Answer wrong = api.post("/api/v1/schedules:preview", "{\"cron\": \"61 * * * *\"}");
        assertThat(wrong.status()).isEqualTo(422);
        assertThat(wrong.json().at("/problems/0/pointer").stringValue()).isEqualTo("/cron");
        assertThat(api.get("/api/v1/schedules?name=preview").json().get("items")).isEmpty();
    }

    @Test
    void nextTimesOfAllSchedulesAreInOneOrder() {
        schedule("quarter", "0,15,30,45 * * * *", "");
        schedule("hour", "0 * * * *", "");
        schedule("twice", "0 * * * *", ", \"max_runs\": 2");
        schedule("never", "0 * * * *", ", \"paused\": true");
        String path = "/api/v1/schedules/next?from=2031-05-01T00:00:00Z&to=2031-05-01T03:00:00Z";
        JsonNode all = api.get(path).json();

        assertThat(all.get("complete").asBoolean()).isTrue();
        List<String> lines = all.get("items").valueStream()
                .map(each -> each.get("at").stringValue().substring(11, 16) + " " + each.get("name").stringValue())
                .toList();
        assertThat(lines).containsExactly("00:00 hour", "00:00 quarter", "00:00 twice", "00:15 quarter",
                "00:30 quarter", "00:45 quarter", "01:00 hour", "01:00 quarter", "01:00 twice", "01:15 quarter",
                "01:30 quarter", "01:45 quarter", "02:00 hour", "02:00 quarter", "02:15 quarter", "02:30 quarter",
                "02:45 quarter");
        JsonNode first = api.get(path + "&limit=3").json();
        assertThat(first.get("items")).hasSize(3);
        assertThat(first.get("complete").asBoolean()).isFalse();
        assertThat(api.get("/api/v1/schedules/next?from=2031-05-02&to=2031-05-01").json().get("items")).isEmpty();
        assertThat(api.get("/api/v1/schedules/next?from=2031-05-02&to=2033-05-01").json().get("parameter")
                .stringValue()).isEqualTo("to");
    }

    private static void schedule(String name, String cron, String more) {
        ApiServer.Answer made = api.send("POST", "/api/v1/schedules", """
                {"name": "%s", "cron": "%s", "mission": {"name": "m", "plan": {"tasks": []}}%s}"""
                .formatted(name, cron, more).getBytes(StandardCharsets.UTF_8), "Content-Type", "application/json");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
    }
}
