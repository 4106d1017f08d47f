package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What readers find in the artifact store who ask no server. */
@Breadth.Spread
class StatusDocumentsTest {

    private static final Map<String, String> WANTED = Map.of("KEELSON_STATUS_DOCUMENTS", "true");
    private static final String MISSION = """
            {"name": "documents", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
              {"name": "first", "tool": "noop", "input": {"output": "one"}},
              {"name": "file", "tool": "artifact.write", "input": {"name": "n.txt", "content": "x"}},
              {"name": "answer", "tool": "signal.wait", "input": {"name": "go"}},
              {"name": "last", "tool": "%s}]}]}}""";

    @TempDir
    private Path folder;

    private Path of(String run) {
        return folder.resolve("artifacts/runs/run_" + run);
    }

    private static String text(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode json(Path file) {
        return Json.read(text(file).getBytes(StandardCharsets.UTF_8));
    }

    private static void until(Runnable assertion) {
        Awaitility.await().atMost(Duration.ofSeconds(200)).pollInterval(Duration.ofMillis(20))
                .untilAsserted(assertion::run);
    }

    /** The document is the answer of the route. */
    private void awaitSame(ApiServer api, String run) {
        until(() -> {
            Path file = of(run).resolve("status.json");
            assertThat(file).exists();
            assertThat(json(file)).isEqualTo(api.get("/runs/" + run + "/status").json());
        });
    }

    /** An unwritable folder affects its run only, until it is writable again. */
    @Test
    void oneRunsFolderDoesNotBlockOthers() throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(), WANTED)) {
            String broken = api.create(ApiServer.WAITS);
            awaitSame(api, broken);
            Path aside = folder.resolve("aside");
            Files.move(of(broken), aside);
            Files.writeString(of(broken), "no folder");
            api.post("/api/v1/runs/" + broken + "/cancel", "{}");

            String other = api.create(ApiServer.WAITS);
            awaitSame(api, other);
            api.post("/api/v1/runs/" + other + "/cancel", "{}");
            awaitSame(api, other);

            Files.delete(of(broken));
            Files.move(aside, of(broken));
            awaitSame(api, broken);
        }
    }

    @Test
    void aRunsDocumentsFollowItToItsEndAndThenStay() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (ApiServer api = new ApiServer(folder, url, WANTED)) {
            String run = api.create(MISSION.formatted("noop\""));
            api.awaitStep(run, "waiting");
            awaitSame(api, run);
            assertThat(json(of(run).resolve("status.json")).get("current_step").stringValue()).isEqualTo("answer");
            Quoted.assertHolds(json(of(run).resolve("steps/1.json")), Quoted.json("""
                    {"run_id": "run_%s", "step": 1, "task": "t", "name": "first", "tool": "noop",
                     "status": "completed", "output": "one"}""".formatted(run)));
            assertThat(of(run).resolve("manifest.json")).doesNotExist();

            api.post("/api/v1/runs/" + run + "/signals/go", "{\"payload\": 3}");
            api.awaitState(run, "completed");
            awaitSame(api, run);

            JsonNode manifest = json(of(run).resolve("manifest.json"));
            Quoted.assertHolds(manifest, Quoted.json("""
                    {"run_id": "run_%s", "status": "completed", "attempt": 1, "steps": 4}""".formatted(run)));
            Path artifact = folder.resolve("artifacts")
                    .resolve(manifest.at("/artifacts/0/storage_key").stringValue());
            assertThat(Files.readString(artifact)).isEqualTo("x");
            assertThat(json(of(run).resolve("steps/3.json")).get("output").intValue()).isEqualTo(3);
            assertThat(of(run).resolve("steps/5.json")).doesNotExist();
            assertThat(of(run).resolve("attempts")).doesNotExist();

            api.sql("update orchestration_runs set error_code = 'LATER' where id = '" + run + "'");
            String ended = text(of(run).resolve("status.json"));
            again(api);
            assertThat(text(of(run).resolve("status.json"))).isEqualTo(ended);
        }
    }

    /** Has everything followed once more, as after a crash, and another run on top. */
    private void again(ApiServer api) {
        api.sql("update status_document_progress set event_id = 0");
        String other = api.create(ApiServer.WAITS);
        awaitSame(api, other);
    }

    @Test
    void eventsArchivedBeforeTheFirstWriteAreFound() throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(), WANTED)) {
            String run = api.create(MISSION.formatted("noop\""));
            api.post("/api/v1/runs/" + run + "/signals/go", "{}");
            api.awaitState(run, "completed");
            awaitSame(api, run);
            api.sql("select keelson_archive_events('" + run + "', 1000)");
            Files.move(of(run), folder.resolve("lost"));

            again(api);

            awaitSame(api, run);
            assertThat(text(of(run).resolve("steps/4.json")))
                    .isEqualTo(text(folder.resolve("lost/steps/4.json"))).isNotEmpty();
        }
    }

    @Test
    void anEarlierAttemptKeepsItsDocuments() throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(), WANTED)) {
            String run = api.create(MISSION.formatted("fail\", \"input\": {\"class\": \"permanent\"}"));
            api.post("/api/v1/runs/" + run + "/signals/go", "{}");
            api.awaitState(run, "failed");
            awaitSame(api, run);
            String status = text(of(run).resolve("status.json"));
            String manifest = text(of(run).resolve("manifest.json"));
            assertThat(Quoted.json(status).get("error").stringValue()).startsWith("FAILED_ON_PURPOSE: ");

            assertThat(api.post("/api/v1/runs/" + run + "/retry", "{\"from\": \"start\"}").status()).isEqualTo(200);
            api.awaitStep(run, "waiting");
            awaitSame(api, run);

            Path first = of(run).resolve("attempts/1");
            assertThat(text(first.resolve("status.json"))).isEqualTo(status);
            assertThat(text(first.resolve("manifest.json"))).isEqualTo(manifest);
            assertThat(first.resolve("steps/3.json")).exists();
            assertThat(of(run).resolve("manifest.json")).doesNotExist();
            assertThat(of(run).resolve("steps/2.json")).exists();
            assertThat(of(run).resolve("steps/3.json")).doesNotExist();
            again(api);
            assertThat(text(first.resolve("status.json"))).isEqualTo(status);
        }
    }

    /** Its first attempt was over before anybody wrote. */
    @Test
    void missedChangesAreWrittenLater() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        String run;
        try (ApiServer api = new ApiServer(folder, url, WANTED)) {
            awaitSame(api, api.create(ApiServer.WAITS));
        }
        try (ApiServer api = new ApiServer(folder, url)) {
            run = api.create(MISSION.formatted("fail\", \"input\": {\"class\": \"permanent\"}"));
            api.post("/api/v1/runs/" + run + "/signals/go", "{}");
            api.awaitState(run, "failed");
            api.post("/api/v1/runs/" + run + "/retry", "{\"from\": \"start\"}");
            api.awaitStep(run, "waiting");
            assertThat(of(run)).doesNotExist();
        }
        try (ApiServer api = new ApiServer(folder, url, WANTED)) {
            awaitSame(api, run);
            JsonNode first = json(of(run).resolve("attempts/1/status.json"));
            Quoted.assertHolds(first, Quoted.json("""
                    {"status": "failed", "current_step": "last", "steps_total": 4, "steps_completed": 3}"""));
            assertThat(first.get("error").stringValue()).startsWith("FAILED_ON_PURPOSE: ");
            assertThat(json(of(run).resolve("attempts/1/manifest.json")).get("steps").intValue()).isEqualTo(3);
        }
    }

    /** One of two servers stops midway; expectations come from the responses of the other. */
    @Test
    void severalServersWriteEqualDocuments() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        List<String> runs = new ArrayList<>();
        try (ApiServer one = new ApiServer(folder, url, WANTED)) {
            Path beside = Files.createDirectory(folder.resolve("beside"));
            Files.createSymbolicLink(beside.resolve("artifacts"), folder.resolve("artifacts"));
            try (ApiServer other = new ApiServer(beside, url, WANTED)) {
                for (int i = 0; i < 15; i++) {
                    runs.add(one.create(MISSION.formatted("noop\"")));
                    runs.add(other.create(MISSION.formatted("noop\"")));
                }
                runs.forEach(run -> one.post("/api/v1/runs/" + run + "/signals/go", "{}"));
            }
            runs.forEach(run -> one.awaitState(run, "completed"));
            runs.forEach(run -> awaitSame(one, run));
            until(() -> runs.forEach(run -> assertThat(of(run).resolve("steps").toFile().list()).hasSize(4)));
            assertThat(folder.resolve("artifacts/runs").toFile().list()).hasSize(runs.size());
        }
    }

    @Test
    void nothingIsWrittenUnlessEnabled() throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            String run = api.create(MISSION.formatted("noop\""));
            api.post("/api/v1/runs/" + run + "/signals/go", "{}");
            api.awaitState(run, "completed");
            assertThat(folder.resolve("artifacts/runs")).doesNotExist();
            assertThat(api.rowCounts()).containsEntry("status_document_progress", 0L);
        }
    }
}
