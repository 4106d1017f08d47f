package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A worker, spoken by hand, that continues with the next step of the task whose step it completes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ContinuationApiTest {

    private static final String GO_ON = ", \"next\": {\"tools\": [\"test.a\", \"test.b\"], \"lease_ms\": 20000}";
    private static final String THREE_STEPS = """
            {"name": "three", "start": true, "plan": {"tasks": [{"id": "t", "title": "T", "steps": [
              {"name": "one", "tool": "test.a"},
              {"name": "two", "tool": "test.b", "input": {"after": "${ .steps.one.output.n }"}},
              {"name": "three", "tool": "test.c", "input": {"bad": "${ .steps.two.output | error }"}}]}]}}""";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        claim("keeper", "\"test.a\", \"test.b\", \"test.c\"", 0);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private List<JsonNode> claim(String worker, String tools, int waitMillis) {
        return items(api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"" + worker + "\", \"tools\": [" + tools
                + "], \"max\": 1, \"wait_ms\": " + waitMillis + ", \"lease_ms\": 20000}"));
    }

    private JsonNode claimOne(String tool) {
        List<JsonNode> items = claim("w", '"' + tool + '"', 20_000);
        assertThat(items).hasSize(1);
        return items.getFirst();
    }

    private JsonNode complete(String worker, JsonNode item, String next) {
        return items(api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"" + worker
                + "\", \"items\": [{\"step_id\": " + item.get("step_id") + ", \"lease_epoch\": "
                + item.get("lease_epoch") + ", \"output\": {\"n\": 7}}]" + next + "}")).getFirst();
    }

    private static List<JsonNode> items(ApiServer.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().toList();
    }

    private static String status(JsonNode answer) {
        return answer.get("status").stringValue();
    }

    private int version(String run) {
        return api.run(run).get("version_id").intValue();
    }

    private long begun(String run) {
        return items(api.get("/api/v1/runs/" + run + "/events")).stream()
                .filter(event -> event.get("event_type").stringValue().equals("step_started")).count();
    }

    private void cancel(String run) {
        assertThat(api.post("/api/v1/runs/" + run + "/cancel", "{}").status()).isEqualTo(200);
    }

    @Test
    void nextStepIsClaimedInTheSameCommitAndReturned() {
        String run = api.create(THREE_STEPS);
        JsonNode one = claimOne("test.a");
        int version = version(run);

        JsonNode answer = complete("w", one, GO_ON);

        assertThat(version(run)).isEqualTo(version + 1);
        assertThat(status(answer)).isEqualTo("ok");
        JsonNode two = answer.get("next");
        assertThat(two.get("tool").stringValue()).isEqualTo("test.b");
        assertThat(two.get("task_id")).isEqualTo(one.get("task_id"));
        assertThat(two.get("run_id").stringValue()).isEqualTo(run);
        assertThat(two.get("lease_epoch").intValue()).isEqualTo(1);
        assertThat(two.get("attempt").intValue()).isEqualTo(1);
        assertThat(two.get("input").toString()).isEqualTo("{\"after\":7}");
        assertThat(two.get("effect_key").stringValue()).endsWith("/t/two");
        assertThat(two.propertyNames()).isEqualTo(one.propertyNames());
        assertThat(two.get("lease_expires_at").stringValue()).isLessThan(two.get("deadline").stringValue());
        JsonNode beat = items(api.post("/api/v1/dispatch/heartbeat", "{\"worker_id\": \"w\", \"items\": [{\"step_id\": "
                + two.get("step_id") + ", \"lease_epoch\": 1}]}")).getFirst();
        assertThat(status(beat)).isEqualTo("ok");
        cancel(run);
    }

    @Test
    void aWorkerThatAsksForNothingGetsNothing() {
        String run = api.create(THREE_STEPS);

        assertThat(complete("w", claimOne("test.a"), "").has("next")).isFalse();
        assertThat(claimOne("test.b").get("run_id").stringValue()).isEqualTo(run);
        cancel(run);
    }

    @Test
    void aRepeatedReportIsAnsweredWithTheSameWorkAndClaimsNothing() {
        String run = api.create(THREE_STEPS);
        JsonNode one = claimOne("test.a");
        JsonNode given = complete("w", one, GO_ON).get("next");
        int version = version(run);

        JsonNode again = complete("w", one, GO_ON);

        assertThat(status(again)).isEqualTo("duplicate");
        assertThat(again.get("next")).isEqualTo(given);
        assertThat(complete("w", one, "").has("next")).as("it is not asked for").isFalse();
        assertThat(complete("other", one, GO_ON).has("next")).as("it is another's").isFalse();
        assertThat(version(run)).isEqualTo(version);
        assertThat(begun(run)).isEqualTo(2);
        cancel(run);
    }

    @Test
    void workInALostAnswerIsReassignedAfterItsLease() {
        String run = api.create(THREE_STEPS);
        JsonNode one = claimOne("test.a");
        complete("w", one, ", \"next\": {\"tools\": [\"test.b\"], \"lease_ms\": 1000}");

        List<JsonNode> two = claim("other", "\"test.b\"", 20_000);

        assertThat(two).hasSize(1);
        assertThat(two.getFirst().get("lease_epoch").intValue()).isEqualTo(2);
        JsonNode late = complete("w", one, GO_ON);
        assertThat(status(late)).isEqualTo("duplicate");
        assertThat(late.has("next")).isFalse();
        cancel(run);
    }

    @Test
    void aToolThatTheWorkerDoesNotServeIsLeftInTheQueue() {
        String run = api.create(THREE_STEPS);
        JsonNode two = complete("w", claimOne("test.a"), GO_ON).get("next");

        JsonNode answer = complete("w", two, GO_ON);

        assertThat(status(answer)).isEqualTo("ok");
        assertThat(answer.has("next")).isFalse();
        assertThat(begun(run)).isEqualTo(2);
        cancel(run);
    }

    @Test
    void drainedWorkerGetsNoNextStep() {
        String run = api.create(THREE_STEPS);
        JsonNode one = claim("tired", "\"test.a\"", 20_000).getFirst();
        assertThat(api.post("/api/v1/workers/tired/drain", "").status()).isEqualTo(204);

        JsonNode answer = complete("tired", one, GO_ON);

        assertThat(status(answer)).isEqualTo("ok");
        assertThat(answer.has("next")).isFalse();
        assertThat(claimOne("test.b").get("run_id").stringValue()).isEqualTo(run);
        cancel(run);
    }

    @Test
    void aNextStepWhoseInputCannotBeMadeFailsInstead() {
        String run = api.create(THREE_STEPS);
        JsonNode two = complete("w", claimOne("test.a"), GO_ON).get("next");

        JsonNode answer = complete("w", two, ", \"next\": {\"tools\": [\"test.c\"]}");

        assertThat(status(answer)).isEqualTo("ok");
        assertThat(answer.has("next")).isFalse();
        assertThat(api.awaitState(run, "failed").get("error_message").stringValue()).contains("the step's input");
    }

    @Test
    void invalidEndpointIsRefusedAndChangesNothing() {
        String run = api.create(THREE_STEPS);
        JsonNode one = claimOne("test.a");
        int version = version(run);

        ApiServer.Answer answer = api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": "
                + "[{\"step_id\": " + one.get("step_id") + ", \"lease_epoch\": 1}], \"next\": {\"lease_ms\": 5,"
                + " \"most\": 1}}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().get("problems").valueStream().map(each -> each.get("pointer").stringValue()))
                .containsExactlyInAnyOrder("/next/tools", "/next/lease_ms", "/next/most");
        assertThat(version(run)).isEqualTo(version);
        cancel(run);
    }
}
