package io.keelson.cli.runs;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.InProcessCli;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.upkeep.RunArchiver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Archived runs as a shell sees them. */
class ArchiveCommandTest {

    @Test
    void archivedRunIsListedShownAndRestored(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (InProcessCli cli = new InProcessCli(folder, url, Map.of("KEELSON_ARCHIVE_AFTER", "2"));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            assertThat(cli.lines("archive")).containsExactly("no archived runs");
            Keelson keelson = cli.client();
            String run = keelson.runs().execute(RunRequest.of(Json.read("""
                    {"name": "old", "start": true, "plan": {"tasks": [
                      {"id": "a", "steps": [{"tool": "echo", "input": {"n": 1}},
                        {"tool": "artifact.write", "input": {"name": "a.txt", "content": "kept"}},
                        {"tool": "noop", "input": {"tokens": 3, "cost": 0.25}}]}]}}""")), Duration.ofMinutes(1)).id();
            database.runInTransaction(c -> {
                try (var s = c.createStatement()) {
                    s.execute("update orchestration_runs set created_at = created_at - interval '3 days',"
                            + " completed_at = completed_at - interval '3 days'");
                }
            });
            new RunArchiver(database, new RunArchive(DbClock.DATABASE),
                    new LocalArtifactStore(folder.resolve("artifacts")),
                    new RunArchiver.Ages(Duration.ofDays(2), null), UUID::randomUUID, RunArchiver.Observer.NONE)
                    .archive();

            assertThat(cli.lines("runs")).containsExactly("no runs");
            assertThat(cli.lines("runs", "--archived").getLast()).contains(run, "completed", "old");
            assertThat(cli.lines("runs", "--archived", "--where", "name=other")).containsExactly("no runs");
            assertThat(String.join("\n", cli.lines("show", run))).contains("old", "archived");
            assertThat(String.join("\n", cli.lines("events", run))).contains("run_completed");
            assertThat(String.join("\n", cli.lines("ledger", run))).contains("0.25");
            Path out = folder.resolve("out");
            cli.lines("show", run, "--out", out.toString());
            try (var files = Files.walk(out)) {
                assertThat(files.filter(each -> each.endsWith("a.txt"))).singleElement()
                        .satisfies(file -> assertThat(file).hasContent("kept"));
            }
            assertThat(cli.lines("archive").getFirst()).startsWith("1 run in 1 object, ");
            assertThat(cli.lines("archive", "verify").getLast()).startsWith("right: 1 run, ");
            var refused = cli.run("retry", run);
            assertThat(refused.code()).isEqualTo(1);
            assertThat(refused.err()).contains("[RUN_ARCHIVED]").contains("archive restore");
            assertThat(cli.lines("archive", "restore", run)).containsExactly("run " + run + " is in the database");
            assertThat(cli.lines("archive", "restore", run)).hasSize(1);
            assertThat(cli.run("archive", "restore", UUID.randomUUID().toString()).err()).contains("[RUN_NOT_FOUND]");
            assertThat(cli.lines("runs").getLast()).contains(run);
            assertThat(cli.lines("archive", "verify", "--json")).anyMatch(line -> line.contains("\"runs\""));
        }
    }
}
