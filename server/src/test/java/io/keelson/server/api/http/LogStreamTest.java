package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Log lines and progress arrive while a worker executes the step. */
class LogStreamTest {

    @Test
    void linesAndProgressAreStreamedUntilTheStepEnds(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder); HttpClient http = HttpClient.newHttpClient()) {
            String claim = "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"wait_ms\": %d}";
            api.post("/api/v1/dispatch/claim", claim.formatted(0));
            api.create(ApiServer.REMOTE);
            JsonNode item = api.post("/api/v1/dispatch/claim", claim.formatted(20_000)).json().at("/items/0");
            String step = item.get("step_id").stringValue();
            String path = "/api/v1/steps/" + step + "/logs/stream";
            // Returns with the headers of the response: the stream is open.
            HttpResponse<Stream<String>> stream = http.send(
                    HttpRequest.newBuilder(URI.create(api.url() + path + "?wait_ms=20000"))
                            .header("Authorization", "Bearer " + api.key()).build(),
                    BodyHandlers.ofLines());
            String lease = "{\"worker_id\": \"w\", \"items\": [{\"step_id\": \"" + step + "\", \"lease_epoch\": 1%s}]}";
            api.post("/api/v1/dispatch/heartbeat",
                    lease.formatted(
                            ", \"progress\": {\"fraction\": 0.5, \"message\": \"halfway\"}, \"logs\": [\"one\", \"two\"]"));
            String live = api.get(path + "?wait_ms=1500").text();
            assertThat(live).contains("\"message\":\"one\"", "\"message\":\"two\"", "\"message\":\"halfway\"");
            api.post("/api/v1/dispatch/complete", lease.formatted(", \"output\": 1"));
            String whole = stream.body().collect(Collectors.joining("\n"));
            assertThat(whole).contains("event: log", "\"message\":\"two\"").contains("\"state\":\"completed\"");
            String last = live.lines().filter(line -> line.startsWith("id: ")).reduce((_, next) -> next).orElseThrow();
            assertThat(api.get(path, "Last-Event-ID", last.substring("id: ".length())).status()).isEqualTo(204);
        }
    }
}
