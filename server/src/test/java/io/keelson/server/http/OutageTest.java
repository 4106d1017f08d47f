package io.keelson.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.db.TestPostgres;
import io.keelson.server.db.embedded.EmbeddedPostgres;
import io.keelson.server.db.embedded.EmbeddedPostgresOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutageTest {

    @Test
    void withoutItsDatabaseTheServerSaysSo(@TempDir Path folder) throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(
                EmbeddedPostgresOptions.throwaway(folder.resolve("postgres"), TestPostgres.BINARIES));
                ApiServer api = new ApiServer(folder.resolve("data"), postgres.url())) {
            String run = api.create(ApiServer.WAITS);
            assertThat(api.get("/readyz").status()).isEqualTo(200);

            postgres.close();

            List<CompletableFuture<ApiServer.Answer>> answers = List.of(
                    CompletableFuture.supplyAsync(() -> api.get("/api/v1/runs")),
                    CompletableFuture.supplyAsync(() -> api.post("/api/v1/runs/" + run + "/start", "")),
                    CompletableFuture.supplyAsync(() -> api.post("/api/v1/runs", ApiServer.WAITS)),
                    CompletableFuture.supplyAsync(() -> api.get("/readyz")));
            assertThat(api.get("/healthz").status()).isEqualTo(200);
            for (CompletableFuture<ApiServer.Answer> each : answers) {
                ApiServer.Answer answer = each.get();
                assertThat(answer.status()).as(answer.text()).isEqualTo(503);
                assertThat(answer.json().get("code").stringValue()).isIn("DATABASE_UNAVAILABLE", "NOT_READY");
                assertThat(answer.header("Retry-After")).isEqualTo("1");
            }
        }
    }
}
