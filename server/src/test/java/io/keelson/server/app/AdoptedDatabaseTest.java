package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.client.Keelson;
import io.keelson.client.ReportQuery;
import io.keelson.client.Run;
import io.keelson.client.plan.Mission;
import io.keelson.server.ServerLog;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Platform;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole server on a database that the platform of PRD-101 made, orchestration included. */
class AdoptedDatabaseTest {

    @TempDir
    private Path folder;

    private final DatabaseUrl url = TestDatabase.createEmptyUrl();

    @Test
    void aRunCompletesWithItsReportsOnceTheAdviceWasFollowed() throws Exception {
        execute(Platform.TABLES);
        execute(Platform.ORCHESTRATION);
        execute("alter table board_tasks add check (source_type in ('user', 'recipe'))");

        StartupException refused = catchThrowableOfType(StartupException.class, this::start);
        for (var advice : Pattern.compile("^  - .*?: ((?:alter|create) .*)$", Pattern.MULTILINE)
                .matcher(refused.getMessage()).results().toList()) {
            execute(advice.group(1));
        }

        Path file = folder.resolve("log");
        try (ServerLog log = ServerLog.into(file); Server server = start()) {
            assertThat(Files.readAllLines(file)).isNotEmpty()
                    .noneMatch(line -> line.matches("WARN (org\\.flywaydb|io\\.keelson\\.server\\.db)\\..*"));
            Keelson client = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
            Run run = client.runs().create(Mission.named("adopted").start()
                    .task("say", task -> task.step("say", "echo", Map.of("text", "done"))));
            assertThat(client.runs().awaitEnd(run.id(), Duration.ofMinutes(1)).state()).isEqualTo("completed");
            assertThat(client.reports().list(ReportQuery.all().run(run.id())).items()).hasSize(2);
        }
    }

    private Server start() throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", TestDatabase.text(url)), folder, folder));
    }

    private void execute(String sql) throws SQLException {
        try (Connection c = url.connect(); Statement statement = c.createStatement()) {
            statement.execute(sql);
        }
    }
}
