package io.keelson.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorBesideServerTest {

    @TempDir
    private Path folder;

    @Test
    void theServersOwnPortIsNoFailureAndItsSecretsNeedTheirKey() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Path data = folder.resolve("data");
        try (ApiServer api = new ApiServer(data, url)) {
            assertThat(api.put("/api/v1/secrets/crm", "{\"value\": \"a-long-enough-value\"}").status()).isEqualTo(200);
            Map<String, String> settings = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_HTTP_PORT",
                    Integer.toString(api.url().getPort()));

            Result well = doctor(data, settings);
            assertThat(well.code()).as(well.out()).isZero();
            assertThat(well.out()).contains("ok    keelson ", "ok    server ", "ok    schema ")
                    .doesNotContain("port ", "secrets");

            Map<String, String> archived = new HashMap<>(settings);
            archived.put("KEELSON_ARCHIVE_AFTER", "30");
            assertThat(doctor(data, archived).out()).containsPattern("ok +archive +no run has moved yet");
            try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
                statement.execute("""
                        with w as (select id from workspaces limit 1), r as (
                            insert into orchestration_runs (id, workspace_id, title, goal, created_by, state, state_type, created_at,
                                    completed_at, plan)
                                select '01900000-0000-7000-8000-000000000001', id, 't', 'g', 'me', 'completed', 'terminal',
                                    now() - interval '32 days', now() - interval '32 days', '{}' from w returning id)
                        insert into run_heads (run_id, version_id, last_seq, steps_completed, total_tokens, total_cost, updated_at)
                            select id, 1, 1, 0, 0, 0, now() - interval '32 days' from r""");
            }
            assertThat(doctor(data, archived).out()).contains("warn  archive ",
                    "run 01900000-0000-7000-8000-000000000001 ended more than 31 days ago and is in the tables");

            Path other = Files.createDirectories(folder.resolve("other"));
            Map<String, String> elsewhere = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_HTTP_PORT",
                    "0");
            Result keyless = doctor(other, elsewhere);
            assertThat(keyless.code()).isEqualTo(1);
            assertThat(keyless.out()).contains("fail  secrets", "SECRET_KEY_MISSING",
                    "set KEELSON_SECRET_KEY, or copy the key to " + other.resolve("secret-key"));

            Files.writeString(other.resolve("secret-key"), "broken");
            Result broken = doctor(other, elsewhere);
            assertThat(broken.code()).isEqualTo(1);
            assertThat(broken.out()).contains("SECRET_KEY_INVALID: " + other.resolve("secret-key"))
                    .doesNotContain("broken");
        }
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute("create table keelson_restore (kind text, value text)");
        }
        Result unfinished = doctor(data, Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_HTTP_PORT",
                "0"));
        assertThat(unfinished.code()).isEqualTo(1);
        assertThat(unfinished.out()).contains("DATABASE_RESTORE_UNFINISHED").doesNotContain("ok    schema");
    }

    private static Result doctor(Path data, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("KEELSON_DATA_DIR", data.toString());
        return InProcessCli.run(all, "doctor");
    }
}
