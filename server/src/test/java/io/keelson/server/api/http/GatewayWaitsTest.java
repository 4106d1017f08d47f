package io.keelson.server.api.http;

import static io.keelson.server.api.http.ToolProgram.replayed;
import static io.keelson.server.api.http.ToolProgram.result;
import static io.keelson.server.api.http.ToolProgram.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Programs that wait for a person have no lease meanwhile. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayWaitsTest {
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_PARK_SECONDS", "1"));
    }

    @AfterAll
    void stop() {
        http.close();
        api.close();
    }

    /** A client that ends calls by itself, as many do, is as good as a killed program: the worker ends it. */
    @Test
    void aProgramThatWaitsForAPersonIsEndedAndGetsTheAnswerInItsNextExecution() throws Exception {
        ToolProgram program = new ToolProgram(api, http, "true", "");
        String first = "{\"question\": \"First?\"}";
        CompletableFuture<HttpResponse<String>> waits = program.sendCall("ask_person", first);
        JsonNode question = program.item("question");
        api.awaitStep(program.run, "waiting");
        HttpResponse<String> refused = program.sendCall("text_template", "{\"template\": \"x\"}").join();
        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(Json.read(refused.body()).at("/error/data/code").stringValue()).isEqualTo("parked");
        assertThat(program.report("heartbeat", "").get("status").stringValue()).isEqualTo("stop");
        assertThat(waits).as("no answer").isNotDone();
        waits.cancel(true);
        assertThat(program.claim(0)).as("no lease").isEmpty();
        moveClock(program, 3);
        assertThat(api.run(program.run).get("state").stringValue()).isEqualTo("running");
        api.post("/api/v1/inbox/" + question.get("id").stringValue() + "/accept", "{\"answer\": \"yes\"}");
        JsonNode before = program.item;
        program.item = program.claim(20_000).get(0);
        assertThat(program.item.get("lease_epoch").intValue()).isEqualTo(before.get("lease_epoch").intValue() + 1);
        assertThat(program.item.get("attempt").intValue()).isEqualTo(1);
        HttpResponse<String> answered = program.sendCall("ask_person", first).join();
        assertThat(text(result(answered))).isEqualTo("yes");
        assertThat(replayed(answered)).isTrue();
        assertThat(program.calls()).hasSize(1);
        program.report("complete", ", \"output\": 1");
        api.awaitState(program.run, "completed");
    }

    /** A program that got an error instead would ask its model again. */
    @Test
    void stopOfTheServerParksTheStep(@TempDir Path folder) throws Exception {
        DatabaseUrl database = TestDatabase.createUrl();
        String run;
        long begun;
        try (ApiServer stopping = new ApiServer(folder, database)) {
            ToolProgram program = new ToolProgram(stopping, http, "true", "");
            run = program.run;
            program.sendCall("ask_person", "{\"question\": \"Go on?\"}");
            program.item("question");
            begun = System.nanoTime();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(9));
        try (ApiServer next = new ApiServer(folder, database)) {
            next.awaitStep(run, "waiting");
        }
    }

    /** Lets so many days pass for the run and all its timers but the person's. */
    private void moveClock(ToolProgram program, int days) {
        String id = "'" + program.run + "'";
        String by = " - interval '" + days + " days'";
        api.sql("update orchestration_tasks set started_at = started_at" + by + ", begun_at = begun_at" + by
                + ", state_since = state_since" + by + ", queued_at = queued_at" + by + " where run_id = " + id);
        api.sql("update task_steps set started_at = started_at" + by + " where run_id = " + id);
        api.sql("update timers set due_at = due_at" + by + " where kind <> 'human' and run_id = " + id);
    }
}
