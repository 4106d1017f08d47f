package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.api.definition.Agent;
import io.keelson.api.definition.Recipe;
import io.keelson.api.outlet.BoardTask;
import io.keelson.api.outlet.Report;
import io.keelson.api.run.Run;
import io.keelson.api.tenant.Workspace;
import io.keelson.client.AgentRequest;
import io.keelson.client.BoardQuery;
import io.keelson.client.BoardTaskRequest;
import io.keelson.client.Keelson;
import io.keelson.client.ReportQuery;
import io.keelson.client.plan.Mission;
import io.keelson.server.ServerLog;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Platform;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.problem.StartupException;
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

    /** The platform's columns have neither defaults nor values where Keelson's own always have them. */
    @Test
    void rowsWithoutValuesAreReadAndNewOnesNeedNoDefaults() throws Exception {
        execute(Platform.TABLES);
        execute("""
                alter table workspaces add column created_at timestamptz;
                alter table agents add column tools jsonb, add column limits jsonb, add column created_at timestamptz,
                    add column updated_at timestamptz;
                alter table board_tasks alter column priority drop default, alter column status drop default,
                    alter column status drop not null, alter column created_at drop default,
                    alter column source_type drop not null,
                    add column review_mode varchar(20), add column created_by_type varchar(30);
                alter table agent_reports add column tokens bigint, add column cost numeric, add column content text;
                alter table workflow_recipes add column version integer, add column owner_type varchar(30),
                    add column tags jsonb, add column template_definition jsonb, add column created_at timestamptz,
                    add column updated_at timestamptz;
                insert into workspaces (id, name) values ('00000000-0000-7000-8000-000000000001', 'default');
                insert into agents (workspace_id, name) values ('00000000-0000-7000-8000-000000000001', 'Ann');
                insert into board_tasks (workspace_id, title) values ('00000000-0000-7000-8000-000000000001', 'Mow');
                insert into agent_reports (id, workspace_id, report_type, title)
                    values (gen_random_uuid(), '00000000-0000-7000-8000-000000000001', 'standup', 'Monday');
                insert into workflow_recipes (workspace_id, name)
                    values ('00000000-0000-7000-8000-000000000001', 'daily')""");

        try (Server server = start()) {
            Keelson client = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
            assertThat(client.board().get(2)).extracting(BoardTask::status, BoardTask::priority, BoardTask::sourceType)
                    .containsExactly("inbox", "medium", "user");
            BoardTask made = client.board().create(BoardTaskRequest.titled("Rake").parent(2));
            assertThat(client.board().tasks(BoardQuery.all()).items()).extracting(BoardTask::title).contains("Rake");
            assertThat(client.board().change(2, BoardTaskRequest.change().status("done")).status()).isEqualTo("done");
            client.board().remove(made.id());
            client.board().remove(2);
            assertThat(client.reports().list(ReportQuery.all()).items()).extracting(Report::title).contains("Monday");
            assertThat(client.recipes().list()).extracting(Recipe::name).containsExactly("daily");
            Mission mission =
                    Mission.named("weekly").task("say", task -> task.step("say", "echo", Map.of("text", "a")));
            assertThat(client.recipes().create(mission).version()).isEqualTo(1);
            assertThat(client.agents().list(null, 10).items()).extracting(Agent::name).containsExactly("Ann");
            assertThat(client.agents().create(AgentRequest.of("bob")).slug()).isEqualTo("bob");
            assertThat(client.workspaces().list()).extracting(Workspace::name).contains("default", "theirs");
            assertThat(client.workspaces().create("new", Map.of()).createdAt()).isAfter(java.time.Instant.EPOCH);
            Run run = client.runs().create(mission.start());
            assertThat(client.runs().awaitEnd(run.id(), Duration.ofMinutes(1)).state()).isEqualTo("completed");
            assertThat(client.board().tasks(BoardQuery.all().run(run.id())).items()).singleElement()
                    .extracting(BoardTask::priority).isEqualTo("medium");
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
