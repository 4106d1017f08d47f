package io.keelson.server.annex.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starting, stopping and starting again in one JVM. */
class EmbeddedPostgresTest {

    @TempDir
    private Path folder;

    @Test
    void closingLeavesNoProcessAndASecondStartFindsTheDataOfTheFirst() throws Exception {
        ProcessHandle postmaster;
        Path unfinished = data().resolve("postgres.new1");
        FilePermissions.createPrivateDirectory(data());
        Files.createDirectories(unfinished.resolve("base"));
        try (var first = EmbeddedPostgres.start(options())) {
            assertThat(unfinished).as("of an initdb that was killed").doesNotExist();
            postmaster = postmaster(data());
            assertThat(first.isAlive()).isTrue();
            execute(first.url(), "create table kept (id int)");
            execute(first.url(), "insert into kept values (42)");
        }
        assertThat(postmaster.isAlive()).isFalse();
        try (var second = EmbeddedPostgres.start(options())) {
            assertThat(single(second.url(), "select id from kept")).isEqualTo("42");
        }
    }

    @Test
    void defaultsAreDurableAndPrivate() throws Exception {
        var options = new EmbeddedPostgresOptions(data(), TestPostgres.BINARIES, Map.of(), false);
        try (var postgres = EmbeddedPostgres.start(options)) {
            assertThat(single(postgres.url(), "show fsync")).isEqualTo("on");
            assertThat(single(postgres.url(), "show synchronous_commit")).isEqualTo("on");
            assertThat(single(postgres.url(), "show data_checksums")).isEqualTo("on");
            assertThat(single(postgres.url(), "show listen_addresses")).isEqualTo("127.0.0.1");
            assertThat(single(postgres.url(), "show unix_socket_directories")).isEmpty();
            assertThat(single(postgres.url(), "show server_encoding")).isEqualTo("UTF8");
            assertThat(single(postgres.url(), "select count(*) from pg_hba_file_rules"
                    + " where auth_method <> 'scram-sha-256'")).isEqualTo("0");
        }
        assertThat(mode(data())).isEqualTo("rwx------");
        assertThat(mode(data().resolve("postgres"))).isEqualTo("rwx------");
        assertThat(mode(data().resolve("postgres.secret"))).isEqualTo("rw-------");
    }

    @Test
    @Breadth.InPart(1)
    void randomPasswordIsHashedOnceAlsoAfterManyHashes() throws Exception {
        try (var first = EmbeddedPostgres.start(options())) {
            assertThat(storedPassword(first.url())).startsWith("SCRAM-SHA-256$1:");

            execute(first.url(), "alter role keelson password '" + first.url().password() + "'");
            assertThat(storedPassword(first.url())).startsWith("SCRAM-SHA-256$4096:");
        }
        try (var second = EmbeddedPostgres.start(options())) {
            assertThat(storedPassword(second.url())).startsWith("SCRAM-SHA-256$1:");
        }
    }

    @Test
    @Breadth.InPart(0)
    void crashedPostgresIsDetectedAndRestarted() throws Exception {
        try (var postgres = EmbeddedPostgres.start(options())) {
            ProcessHandle postmaster = postmaster(data());
            postmaster.destroyForcibly();
            postmaster.onExit().join();
            await().until(() -> !postgres.isAlive());
        }
        EmbeddedPostgres.start(options()).close();
    }

    /** What a checkpoint writes would be deleted at once. */
    @Test
    @Breadth.InPart(6)
    void aThrowawayEndsWithoutACheckpointAndIsDeletedAndASettingOfTheCallersWins() throws Exception {
        Path log = folder.resolve("log");
        var options = EmbeddedPostgresOptions.throwaway(data(), TestPostgres.BINARIES).with("max_connections", "33");
        try (var postgres = EmbeddedPostgres.start(options)) {
            assertThat(single(postgres.url(), "show max_connections")).isEqualTo("33");
            try (var logs = Files.newDirectoryStream(data().resolve(PostgresLog.FOLDER), "postgres-*.log")) {
                Files.createLink(log, logs.iterator().next());
            }
        }
        assertThat(log).content().contains("received immediate shutdown request").doesNotContain("fast shutdown");
        assertThat(data()).doesNotExist();
    }

    static ProcessHandle postmaster(Path dataDirectory) throws Exception {
        long pid = PostmasterFile.read(dataDirectory.resolve("postgres")).orElseThrow().pid();
        return ProcessHandle.of(pid).orElseThrow();
    }

    static String single(DatabaseUrl url, String sql) throws SQLException {
        try (var connection = url.connect(); var rows = connection.createStatement().executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    static void execute(DatabaseUrl url, String sql) throws SQLException {
        try (var connection = url.connect(); var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String storedPassword(DatabaseUrl url) throws SQLException {
        return single(url, "select rolpassword from pg_authid where rolname = 'keelson'");
    }

    private Path data() {
        return folder.resolve("data");
    }

    private EmbeddedPostgresOptions options() {
        return new EmbeddedPostgresOptions(data(), TestPostgres.BINARIES, Map.of("fsync", "off"), false);
    }

    private static String mode(Path path) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
