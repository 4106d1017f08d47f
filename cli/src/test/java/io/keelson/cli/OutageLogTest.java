package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.common.Logging;
import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.db.TestPostgres;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What a server's log says while its database is gone. */
@Isolated("commands in other tests change the logging of the process")
class OutageLogTest {

    private static final int REQUESTS = 60;

    @TempDir
    Path folder;

    @AfterEach
    void logAsBefore() throws Exception {
        Logging.toStandardError(Settings.load(Map.of("KEELSON_LOG_LEVEL", "warn"), folder, folder));
    }

    @Test
    void eachConditionHasOneLineAndNoStackTrace() throws Exception {
        Path log = folder.resolve("log");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(
                EmbeddedPostgresOptions.throwaway(folder.resolve("postgres"), TestPostgres.BINARIES))) {
            Settings settings = Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                    "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(postgres.url())), folder,
                    folder);
            Logging.toFile(settings, log);
            try (Server server = Server.start(settings)) {
                postgres.close();
                assertThat(ask(server)).hasSize(REQUESTS).containsOnly(503);
                List<String> lines = Files.readAllLines(log);
                assertThat(lines).filteredOn(line -> line.startsWith("\tat ")).isEmpty();
                assertThat(lines).filteredOn(line -> line.contains("GET /api/v1/runs failed"))
                        .as(() -> String.join("\n", lines)).isNotEmpty()
                        .hasSizeLessThan(5).first().asString().contains("the database does not respond");
                assertThat(lines).filteredOn(line -> line.contains("background task due-work failed")).isNotEmpty()
                        .hasSizeLessThan(5);
                assertThat(lines).hasSizeLessThan(60);
            }
        }
    }

    private static List<Integer> ask(Server server) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient();
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(server.baseUrl() + "/api/v1/runs"))
                    .header("Authorization", "Bearer " + server.apiKey()).build();
            List<Future<Integer>> answers = IntStream.range(0, REQUESTS).mapToObj(i -> clients.submit(
                    () -> http.send(request, BodyHandlers.discarding()).statusCode())).toList();
            return answers.stream().map(OutageLogTest::join).toList();
        }
    }

    private static int join(Future<Integer> answer) {
        try {
            return answer.get();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
