package io.keelson.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keelson.cli.CliProcess;
import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Platform;
import io.keelson.server.base.db.TestDatabase;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server in its own process: it is found, stops on request, and reports a failed start in one line. */
class ServerCommandTest {

    @TempDir
    static Path folder;

    @AfterEach
    void nothingIsLeftRunning() {
        CliProcess.assertNoneLeft(folder);
    }

    @Test
    void aServerIsFoundByTheOtherCommands() throws Exception {
        CliProcess server = CliProcess.start(data(), Map.of("KEELSON_HTTP_PORT", "0"), "server");
        try {
            awaitUrl(server, data());
            String mission = mission("plan: {tasks: [{id: nap, steps: [{tool: wait, input: {seconds: 3600}}]}]}");
            Result started = CliProcess.start(data(), Map.of(), "run", mission, "--detach").end();
            assertThat(started.code()).as(started.err()).isZero();
            String id = started.out().strip();
            assertThat(keelson("pause", id).out()).contains("is paused");
            Result paused = keelson("watch", id);
            assertThat(paused.code()).isEqualTo(4);
            assertThat(paused.out()).contains("keelson resume " + id);
            assertThat(keelson("resume", id).out()).contains("is running");
            assertThat(keelson("cancel", id, "--reason", "enough").out()).contains("is cancelled");
            assertThat(keelson("watch", id).code()).isEqualTo(3);
            assertThat(keelson("show", id, "--json").json().at("/steps/0/state").asString()).isEqualTo("cancelled");
            assertThat(keelson("runs", "--state", "cancelled", "--json").json().at("/items/0/id").asString())
                    .isEqualTo(id);
            Result refused = keelson("pause", id);
            assertThat(refused.code()).isEqualTo(1);
            assertThat(refused.err()).contains("[INVALID_STATE_TRANSITION]").doesNotContain("\tat ");
            assertThat(keelson("tools", "--server", "--json").json().get("items")).isNotEmpty();
            Result second = CliProcess.start(data(), Map.of("KEELSON_HTTP_PORT", "0"), "server").end();
            assertThat(second.code()).isEqualTo(1);
            assertThat(second.err()).contains("[DATA_DIR_IN_USE]").hasLineCount(1);
        } finally {
            server.process().destroy();
        }
        Result ended = server.end();
        assertThat(ended.code()).isEqualTo(143);
        assertThat(ended.err()).contains(" listens at http://127.0.0.1:", data().resolve("api-key").toString(),
                "Link to the dashboard: keelson open");
        assertThat(ended.err()).as("a log has no link that signs in its reader").doesNotContain("#code=");
        assertThat(keelson("run", mission("plan: {tasks: []}"), "--detach").err()).contains("[NO_SERVER]");
        assertThat(keelson("run", "absent.yaml").err()).contains("[FILE_NOT_FOUND]");
    }

    @Test
    @Breadth.InPart(2)
    void aBootstrapKeyOpensTheServerAndNoOtherIsMade() throws Exception {
        Path own = folder.resolve("bootstrapped");
        Result generated = InProcessCli.run(Map.of(), "keys", "generate");
        Path key = Files.writeString(folder.resolve("bootstrap-key"), generated.out());
        Map<String, String> settings = Map.of("KEELSON_HTTP_PORT", "0", "KEELSON_LOG_FORMAT", "json",
                "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()), "KEELSON_BOOTSTRAP_KEY_FILE",
                key.toString());
        CliProcess server = CliProcess.start(own, settings, "server");
        try {
            awaitUrl(server, own);
            Result who = InProcessCli.run(Map.of("KEELSON_DATA_DIR", own.toString(), "KEELSON_BOOTSTRAP_KEY_FILE",
                    key.toString()), "keys", "--json");
            assertThat(who.json().get("items")).as(who.err()).hasSize(1);
            assertThat(who.json().at("/items/0/name").asString()).isEqualTo("bootstrap");
            assertThat(who.json().at("/items/0/expires_at").asString()).isNotBlank();
            assertThat(own.resolve("api-key")).doesNotExist();
            Result second = CliProcess.start(own, settings, "server").end();
            assertThat(second.err()).as("an external database does not make a folder one for two")
                    .contains("[DATA_DIR_IN_USE]");
        } finally {
            server.process().destroy();
        }
        assertThat(server.end().err().lines()).anyMatch(line -> line.contains(" listens at "))
                .allSatisfy(line -> assertThat(line).startsWith("{").endsWith("}"));
        Result broken = CliProcess.start(own, Map.of("KEELSON_BOOTSTRAP_KEY", "kl_broken"), "server").end();
        assertThat(broken.err()).contains("KEELSON_BOOTSTRAP_KEY", "keelson keys generate").doesNotContain("kl_broken");
    }

    @Test
    void startFailureIsOneLine() throws Exception {
        assertOneLine(
                CliProcess.start(data(), Map.of("KEELSON_DATABASE_URL", "postgresql://u:p@127.0.0.1:1/d"), "server")
                        .end(),
                1, "DATABASE_UNREACHABLE");
    }

    /** On a file system of 1 MiB, which only the process sees. */
    @Test
    void aFullDiskIsCalledThat() throws Exception {
        assumeTrue(new ProcessBuilder("unshare", "-rm", "true").start().waitFor() == 0);
        List<String> command = new ArrayList<>(List.of("unshare", "-rm", "sh", "-c",
                "mount -t tmpfs -o size=1m tmpfs \"$0\" && exec \"$@\"", folder.toString()));
        command.addAll(CliProcess.command("server"));
        assertOneLine(CliProcess.start(data(), Map.of("KEELSON_LOG_LEVEL", "error"), command).end(), 1,
                "DATA_DIR_FULL");
    }

    @Test
    @Breadth.InPart(3)
    void aFolderThatCannotBeWrittenAndWrongSettingsAreRefusedInWords() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "");
        assertOneLine(CliProcess.start(file.resolve("data"), Map.of(), "server").end(), 1, "DATA_DIR_NOT_WRITABLE");
        Result settings =
                CliProcess.start(data(), Map.of("KEELSON_HTTP_PORT", "many", "KEELSON_LOG_LEVEL", "loud"), "server")
                        .end();
        assertThat(settings.code()).isEqualTo(2);
        assertThat(settings.err()).contains("[SETTING_INVALID]").contains("KEELSON_HTTP_PORT=many",
                "KEELSON_LOG_LEVEL=loud");
    }

    @Test
    @Breadth.InPart(1)
    void aTakenPortIsOneLine() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertOneLine(
                    CliProcess.start(data(), Map.of("KEELSON_HTTP_PORT", port, "KEELSON_LOG_LEVEL", "error"), "server")
                            .end(),
                    1, "PORT_IN_USE");
        }
    }

    @Test
    @Breadth.InPart(6)
    void aSchemaThatWasNeverReleasedIsOneLine() throws Exception {
        Map<String, String> old = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(unreleased()));
        assertOneLine(CliProcess.start(data(), old, "server").end(), 1, "DATABASE_SCHEMA_UNRELEASED");
        assertThat(CliProcess.start(data(), old, "doctor").end().out()).contains("DATABASE_SCHEMA_UNRELEASED");
    }

    @Test
    @Breadth.InPart(0)
    void doctorRunsAllChecks() throws Exception {
        Result well =
                CliProcess.start(data(), Map.of("KEELSON_HTTP_PORT", "0", "KEELSON_HTTP_PROT", "1"), "doctor", "--json")
                        .end();
        assertThat(well.code()).as(well.out()).isZero();
        assertThat(well.json().get("checks").findValuesAsString("check")).contains("Java", "data folder", "disk space",
                "git", "slots", "port", "embedded PostgreSQL", "database", "clocks", "settings");
        Result ill = CliProcess.start(data(), Map.of("KEELSON_DATABASE_URL", "postgresql://u@127.0.0.1:1/d"), "doctor")
                .end();
        assertThat(ill.code()).isEqualTo(1);
        assertThat(ill.out()).contains("fail  database", "DATABASE_UNREACHABLE");
    }

    @Test
    void doctorComparesTheConnectionsThatADatabasePermits() throws Exception {
        DatabaseUrl url = TestDatabase.createUrlOfPlainOwner();
        Map<String, String> settings = Map.of("KEELSON_DATA_DIR", folder.resolve("few").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(url));
        assertThat(InProcessCli.run(settings, "doctor").out()).doesNotContain("connections");
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute("alter database " + url.database() + " connection limit 19");
        }
        assertThat(InProcessCli.run(settings, "doctor").out())
                .contains("permits this user 19, and a server opens up to 20", "KEELSON_DATABASE_CONNECTIONS");
    }

    @Test
    void doctorListsWhatTheFirstStartChangesOfTablesOfOthers() throws Exception {
        DatabaseUrl url = TestDatabase.createEmptyUrl();
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute(Platform.TABLES);
        }
        Result result = InProcessCli.run(Map.of("KEELSON_DATA_DIR", folder.resolve("shared").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(url)), "doctor");
        assertThat(result.code()).as(result.out()).isZero();
        assertThat(result.out()).contains("warn  table board_tasks",
                "executes: create unique index concurrently if not exists uq_board_tasks_orchestration_run on board_tasks",
                "lock SHARE UPDATE EXCLUSIVE; one board task for each run",
                "executes: alter table workspaces add column allowed_folders _text",
                "lock ACCESS EXCLUSIVE; Keelson reads and writes these columns; no row is rewritten");
        try (Connection connection = url.connect(); Statement statement = connection.createStatement();
                ResultSet history = statement.executeQuery("select to_regclass('flyway_schema_history')")) {
            history.next();
            assertThat(history.getString(1)).as("the schema's history").isNull();
        }
    }

    /** The files and folders that settings name are checked beside a server, too. */
    @Test
    void doctorChecksTheModelsFileAndTheAllowedFolders(@TempDir Path data) throws Exception {
        Path models = Files.writeString(data.resolve("models.yaml"), "models: 1");
        Path file = Files.createFile(data.resolve("file"));
        Path missing = data.resolve("missing");
        try (InProcessCli server = new InProcessCli(data.resolve("server"))) {
            Map<String, String> beside = Map.of("KEELSON_DATA_DIR", data.resolve("server").toString());
            Result invalid = InProcessCli.run(with(beside, models, file, data), "doctor");
            assertThat(invalid.code()).isEqualTo(1);
            assertThat(invalid.out()).contains("MODELS_FILE_INVALID: cannot use the file " + models,
                    file + " is not a folder", "ok    allowed folder        " + data);
            Result gone = InProcessCli.run(with(beside, missing, missing), "doctor");
            assertThat(gone.code()).isEqualTo(1);
            assertThat(gone.out()).contains("MODELS_FILE_INVALID: cannot read the file " + missing,
                    "there is no folder " + missing).doesNotContain("Exception");
            assertThat(server.run("doctor").out()).doesNotContain("models", "allowed folder");
        }
    }

    private static Map<String, String> with(Map<String, String> settings, Path models, Path... folders) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("KEELSON_MODELS", models.toString());
        all.put("KEELSON_ALLOWED_FOLDERS",
                Stream.of(folders).map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
        return all;
    }

    @Test
    @Breadth.InPart(5)
    void doctorNamesATemporaryFolderThatCannotBeWritten() throws Exception {
        Path missing = folder.resolve("missing");
        Result said = CliProcess.start(data(), Map.of("KEELSON_HTTP_PORT", "0", "JAVA_TOOL_OPTIONS",
                "-Djava.io.tmpdir=" + missing), "doctor").end();
        assertThat(said.code()).isEqualTo(1);
        assertThat(said.out()).contains("the temporary folder " + missing + " cannot be written")
                .doesNotContain("Exception");
    }

    /** As builds before left it, whose first file was another one. */
    private static DatabaseUrl unreleased() throws SQLException {
        DatabaseUrl url = TestDatabase.createUrl();
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.executeUpdate("""
                    update flyway_schema_history set description = 'neighbours', checksum = 1 where version = '1'""");
        }
        return url;
    }

    private static void assertOneLine(Result result, int code, String name) {
        assertThat(result.code()).as(result.err()).isEqualTo(code);
        assertThat(result.err()).contains("[" + name + "]").hasLineCount(1);
    }

    private static Path data() {
        return folder.resolve("data");
    }

    private static void awaitUrl(CliProcess server, Path folder) {
        Path url = folder.resolve("url");
        Awaitility.await().atMost(Duration.ofMinutes(2))
                .until(() -> Files.exists(url) || !server.process().isAlive());
        assertThat(url).exists();
    }

    private static Result keelson(String... arguments) {
        return InProcessCli.run(Map.of("KEELSON_DATA_DIR", data().toString()), arguments);
    }

    private static String mission(String yaml) throws IOException {
        return CliProcess.mission(folder, yaml);
    }
}
