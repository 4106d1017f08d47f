package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.app.metrics.Metric;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Breadth.Spread
class MetricsApiTest {

    private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z_]+)(?:\\{(.*)})? (\\S+)$");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"[^\"]*\"");

    private static final Pattern TASK = Pattern.compile("BackgroundTask\\s*\\.(?:every|onNudge|paced)\\(\"([^\"]+)\"");

    private static ApiServer api;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_STATUS_DOCUMENTS", "true"));
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    private static String page() {
        return api.get("/metrics", "Authorization", "").text();
    }

    private static double value(String sample) {
        Matcher line = Pattern.compile("(?m)^" + Pattern.quote(sample) + " (\\S+)$").matcher(page());
        return line.find() ? Double.parseDouble(line.group(1)) : 0;
    }

    @Test
    void missionsThatAreKnownAreCounted() {
        String mission = """
                {"name": "sent twice", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""";
        double known = value("keelson_missions_total{how=\"known\"}");
        double read = value("keelson_missions_total{how=\"read\"}");

        String first = api.post("/api/v1/runs", mission).json().get("id").stringValue();
        String second = api.post("/api/v1/runs", mission).json().get("id").stringValue();

        assertThat(second).isNotEqualTo(first);
        assertThat(api.run(second).get("plan")).isEqualTo(api.run(first).get("plan"));
        assertThat(value("keelson_missions_total{how=\"known\"}")).isEqualTo(known + 1);
        assertThat(value("keelson_missions_total{how=\"read\"}")).isEqualTo(read + 1);
    }

    @Test
    void servedMetricsEqualTheDocumented() {
        Map<String, Set<String>> wanted = new TreeMap<>();
        for (Metric metric : Metric.values()) {
            for (String sample : metric.samples()) {
                Set<String> labels = new TreeSet<>(metric.labels());
                if (sample.endsWith("_bucket")) {
                    labels.add("le");
                }
                wanted.put(sample, labels);
            }
        }
        api.get("/no-such-thing");

        Map<String, Set<String>> served = new TreeMap<>();
        SAMPLE.matcher(page()).results().forEach(sample -> served.put(sample.group(1),
                sample.group(2) == null ? Set.of()
                        : LABEL.matcher(sample.group(2)).results()
                                .map(label -> label.group(1)).collect(Collectors.toCollection(TreeSet::new))));

        assertThat(served).isEqualTo(wanted);
        for (Metric metric : Metric.values()) {
            assertThat(page()).contains("# TYPE " + metric.served() + " " + metric.kind());
        }
    }

    /** The names are taken from the source, so that no task is forgotten. */
    @Test
    void everyBackgroundTaskIsMeasured() throws IOException {
        Set<String> tasks = new TreeSet<>();
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            for (Path source : sources.filter(file -> file.toString().endsWith(".java")).toList()) {
                TASK.matcher(Files.readString(source)).results().forEach(task -> tasks.add(task.group(1)));
            }
        }
        Set<String> measured = Pattern.compile("keelson_background_runs_total\\{task=\"([^\"]+)\"}").matcher(page())
                .results().map(sample -> sample.group(1)).collect(Collectors.toCollection(TreeSet::new));

        assertThat(measured).isEqualTo(tasks).contains("heartbeat", "due-work");
        Awaitility.await().until(() -> value("keelson_background_runs_total{task=\"due-work\"}") > 1);
        assertThat(value("keelson_background_failures_total{task=\"due-work\"}")).isZero();
        assertThat(value("keelson_background_success_age_seconds{task=\"due-work\"}")).isBetween(0.0, 60.0);
        assertThat(value("keelson_background_last_duration_seconds{task=\"due-work\"}")).isPositive();
    }

    @Test
    void commitsAreCounted() {
        double created = value("keelson_runs_submitted_total{trigger=\"api\"}");
        double completed = value("keelson_run_transitions_total{to=\"completed\"}");
        double steps = value("keelson_step_transitions_total{to=\"running\"}");
        String good = api.create("""
                {"name": "good", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "a", "tool": "echo", "input": {}}, {"name": "b", "tool": "echo", "input": {}}]}]}}""");
        api.awaitState(good, "completed");

        assertThat(value("keelson_runs_submitted_total{trigger=\"api\"}")).isEqualTo(created + 1);
        assertThat(value("keelson_run_transitions_total{to=\"completed\"}")).isEqualTo(completed + 1);
        assertThat(value("keelson_step_transitions_total{to=\"running\"}")).isEqualTo(steps + 2);
        assertThat(value("keelson_commit_batch_commands_count")).isPositive();
        assertThat(page()).doesNotContain(good, Bootstrap.DEFAULT_WORKSPACE.toString());
    }

    @Test
    void endsWithFailuresAreCounted() {
        double before = value("keelson_runs_with_failures_total");
        api.awaitState(api.create("""
                {"name": "half", "start": true, "config": {"failure_mode": "continue"}, "plan": {"tasks": [
                  {"id": "good", "steps": [{"tool": "echo"}]},
                  {"id": "bad", "steps": [{"tool": "fail", "input": {"class": "permanent"}}]}]}}"""), "completed");

        assertThat(value("keelson_runs_with_failures_total")).isEqualTo(before + 1);
    }

    @Test
    void requestsAreCountedByRoute() {
        String read = "keelson_http_requests_total{method=\"GET\",route=\"/api/v1/runs/{id}\",status=\"404\"}";
        double before = value(read);

        api.get("/api/v1/runs/00000000-0000-0000-0000-000000000001");

        assertThat(value(read)).isEqualTo(before + 1);
        assertThat(value("keelson_http_refusals_total{code=\"RUN_NOT_FOUND\"}")).isPositive();
    }

    @Test
    void openMetricsIsServedOnRequest() {
        ApiServer.Answer answer = api.get("/metrics", "Accept", "application/openmetrics-text;version=1.0.0,*/*;q=0.1");

        assertThat(answer.header("Content-Type")).startsWith("application/openmetrics-text");
        assertThat(answer.text()).endsWith("# EOF\n");
    }

    @Test
    void fromElsewhereAKeyOfAnOperatorIsAskedFor() {
        String other = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.complementOf(EnumSet.of(Scope.OPERATOR)));
        String operator = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.OPERATOR));
        for (String header : List.of("Forwarded", "X-Forwarded-For", "Via")) {
            assertThat(api.get("/metrics", header, "192.0.2.1", "Authorization", "").status()).isEqualTo(401);
            assertThat(api.get("/metrics", header, "192.0.2.1", "Authorization", other).status())
                    .isEqualTo(403);
            assertThat(api.get("/metrics", header, "192.0.2.1", "Authorization", operator).status()).isEqualTo(200);
        }
    }

    @Test
    void settingControlsTheAccess(@TempDir Path open, @TempDir Path shut) throws Exception {
        try (ApiServer server =
                new ApiServer(open, TestDatabase.createUrl(), Map.of("KEELSON_METRICS_ACCESS", "open"))) {
            assertThat(server.get("/metrics", "Via", "x", "Authorization", "").status()).isEqualTo(200);
        }
        try (ApiServer server =
                new ApiServer(shut, TestDatabase.createUrl(), Map.of("KEELSON_METRICS_ACCESS", "key"))) {
            assertThat(server.get("/metrics", "Authorization", "").status()).isEqualTo(401);
            assertThat(server.get("/metrics").status()).isEqualTo(200);
        }
    }

    /** Metrics name no workspace, and count what each inbox lists. */
    @Test
    void humanWaitsAreCountedByKind(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            String waits = api.create(ApiServer.WAITS.replace("\"waits\",", "\"waits\", \"start\": true,"));
            api.awaitStep(waits, "waiting_approval");
            String proposes = api.create("""
                    {"name": "proposes", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
                      {"id": "a", "steps": [{"tool": "proposal.create", "input": {"title": "x"}},
                        {"tool": "fail", "input": {"times": 9}, "retry": {"max_attempts": 1}}]}]}}""");
            api.awaitState(proposes, "escalated");
            String plan = api.create("""
                    {"name": "plan", "start": true, "config": {"autonomy": {"level": "approve"}},
                     "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""");
            api.awaitState(plan, "awaiting_approval");

            String page = api.get("/metrics").text();

            api.get("/api/v1/inbox/stats").json().get("by_kind").properties().forEach(kind -> assertThat(page)
                    .contains("keelson_inbox_items{kind=\"" + kind.getKey() + "\"} " + kind.getValue() + ".0"));
            assertThat(page).contains("keelson_inbox_items{kind=\"approval_step\"} 1.0",
                    "keelson_inbox_items{kind=\"escalation\"} 1.0", "keelson_inbox_items{kind=\"proposal\"} 1.0",
                    "keelson_inbox_items{kind=\"plan_approval\"} 1.0", "keelson_inbox_items{kind=\"budget\"} 0.0",
                    "keelson_webhook_pending 0.0",
                    "keelson_webhook_attempts_total{format=\"standard\",outcome=\"delivered\"} 0.0");
        }
    }

    @Test
    void aRunThatWaitsForAPersonIsNotAtWork(@TempDir Path own) throws Exception {
        try (ApiServer server = new ApiServer(own)) {
            String waits = server.create(ApiServer.WAITS.replace("\"waits\",", "\"waits\", \"start\": true,"));
            server.awaitStep(waits, "waiting_approval");
            server.sql("update orchestration_runs set started_at = started_at - interval '30 days',"
                    + " state_since = state_since - interval '30 days'");
            String page = server.get("/metrics").text();
            assertThat(page).contains("keelson_runs_oldest_active_seconds 0.0");
            assertThat(page).containsPattern("keelson_runs_oldest_seconds\\{state=\"running\"} 2592\\d{3}\\.");
        }
        try (ApiServer server = new ApiServer(own.resolve("other"))) {
            server.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"]}");
            String works = server.create(ApiServer.REMOTE);
            server.post("/api/v1/dispatch/claim",
                    "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"wait_ms\": 20000}");
            server.awaitStep(works, "running");
            server.sql(
                    "update orchestration_runs set active_since = active_since - interval '30 days', active_ms = 1000");
            assertThat(server.get("/metrics").text())
                    .containsPattern("keelson_runs_oldest_active_seconds 2592\\d{3}\\.");
        }
    }

    @Test
    void planWithoutApprovalWaitsForNoPerson(@TempDir Path own) throws Exception {
        try (ApiServer server = new ApiServer(own)) {
            String run = server.create("""
                    {"name": "n", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""");
            server.awaitState(run, "completed");
            assertThat(server.get("/metrics").text()).contains("keelson_humans_asked_total{what=\"plan\"} 0");
        }
    }
}
