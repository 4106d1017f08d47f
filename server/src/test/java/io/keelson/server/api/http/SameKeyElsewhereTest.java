package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same request under the same idempotency key, at two servers at once. */
class SameKeyElsewhereTest {
    private static final String BODY = """
            {"name": "once", "external_id": "ours", "start": true,
             "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""";
    private static final String WAITING = """
            select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'""";

    @TempDir
    Path folder;

    /** What the faster one made is what the other one would be refused for. */
    @Test
    void theSlowerOneAnswersWhatTheFasterOneDid() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (ApiServer one = new ApiServer(folder.resolve("one"), url);
                ApiServer other = new ApiServer(folder.resolve("other"), url); Connection holding = url.connect();
                Statement statement = holding.createStatement()) {
            String key = "Bearer " + one.key();
            holding.setAutoCommit(false);
            statement.execute("lock table idempotency_cache in share row exclusive mode");
            List<CompletableFuture<Answer>> answers = Stream.of(one, other).map(server -> CompletableFuture.supplyAsync(
                    () -> server.post("/api/v1/runs", BODY, "Idempotency-Key", "k", "Authorization", key))).toList();
            Awaitility.await().until(() -> waiting(one) == 2);
            holding.commit();

            List<Answer> both = answers.stream().map(CompletableFuture::join).toList();
            assertThat(both).as(both.stream().map(Answer::text).toList().toString())
                    .extracting(Answer::status).containsExactlyInAnyOrder(200, 201);
            assertThat(both).extracting(answer -> answer.json().get("id").stringValue()).as("one run")
                    .containsOnly(both.getFirst().json().get("id").stringValue());
            assertThat(both).extracting(answer -> answer.header("Idempotent-Replayed"))
                    .containsExactlyInAnyOrder("", "true");
        }
    }

    private static int waiting(ApiServer api) {
        return api.database().withConnection(c -> {
            try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(WAITING)) {
                row.next();
                return row.getInt(1);
            }
        });
    }
}
