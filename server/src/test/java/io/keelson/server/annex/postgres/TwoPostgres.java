package io.keelson.server.annex.postgres;

import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A primary and its asynchronous standby. Tests hold the replication, kill or freeze the primary, and promote the
 * standby.
 */
public final class TwoPostgres implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    /** Files of a running cluster that a copy must not have. */
    private static final List<String> OF_THE_PROCESS = List.of("postmaster.pid", "postmaster.opts");

    private final Path primaryFolder;
    private final EmbeddedPostgres primary;
    private final EmbeddedPostgres standby;

    private TwoPostgres(Path primaryFolder, EmbeddedPostgres primary, EmbeddedPostgres standby) {
        this.primaryFolder = primaryFolder;
        this.primary = primary;
        this.standby = standby;
    }

    /** Starts both, and returns when the standby receives the primary's changes. */
    public static TwoPostgres start(Path folder) throws IOException, SQLException {
        Files.createDirectories(folder);
        Path one = folder.resolve("primary");
        Path other = folder.resolve("standby");
        EmbeddedPostgres primary = EmbeddedPostgres.start(options(one));
        try {
            copy(primary, one, other);
            var both = new TwoPostgres(one, primary, EmbeddedPostgres.start(options(other)));
            await(() -> number(primary, "select count(*) from pg_stat_replication where state = 'streaming'") == 1);
            return both;
        } catch (IOException | SQLException | RuntimeException | Error e) {
            primary.close();
            throw e;
        }
    }

    /** The database at that of both which accepts changes. */
    public DatabaseUrl url() {
        DatabaseUrl url = primary.url();
        return new DatabaseUrl(url.hosts() + "," + standby.url().hosts(), url.database(), url.user(), url.password(),
                "targetServerType=primary");
    }

    /** The URL as settings take it. */
    public String text() {
        return text(url().hosts()) + "?" + url().parameters();
    }

    /** The URL with another address, as settings take it. */
    public String text(String address) {
        DatabaseUrl url = url();
        return "postgresql://" + url.user() + ":" + url.password() + "@" + address + "/" + url.database();
    }

    /** The database at the primary. */
    public DatabaseUrl primary() {
        return primary.url();
    }

    /** The database at the standby. */
    public DatabaseUrl standby() {
        return standby.url();
    }

    /** From now on the primary acknowledges commits that the standby has. */
    public void replicateSynchronously() throws SQLException {
        execute(primary, "alter system set synchronous_standby_names = '*'");
        execute(primary, "select pg_reload_conf()");
        await(() -> number(primary, "select count(*) from pg_stat_replication where sync_state = 'sync'") == 1);
    }

    /** Waits until the standby has all commits so far, and ends the replication: the standby gets no later ones. */
    public void holdReplication() throws SQLException {
        String end = text(primary, "select pg_current_wal_lsn()");
        await(() -> number(standby, "select (pg_last_wal_replay_lsn() >= '" + end + "')::int") == 1);
        execute(standby, "alter system set primary_conninfo = ''");
        execute(standby, "select pg_reload_conf()");
        await(() -> number(primary, "select count(*) from pg_stat_replication") == 0);
    }

    /** Kills all processes of the primary at once. */
    public void killPrimary() throws IOException, InterruptedException {
        signal("-KILL", processes());
    }

    /** Stops all processes of the primary: it accepts connections by its system, and answers nothing. */
    public void freezePrimary() throws IOException, InterruptedException {
        long postmaster = postmaster();
        signal("-STOP", List.of(postmaster));
        signal("-STOP", processes());
    }

    /** Lets a frozen primary continue. */
    public void thawPrimary() throws IOException, InterruptedException {
        signal("-CONT", processes());
    }

    /** Makes the standby the primary, and returns when it accepts changes. */
    public void promote() throws SQLException {
        if (number(standby, "select pg_promote(true, " + LIMIT.toSeconds() + ")::int") != 1) {
            throw new IllegalStateException("the standby was not promoted");
        }
    }

    @Override
    public void close() throws IOException {
        try {
            thawPrimary();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            try (primary) {
                standby.close();
            }
        }
    }

    /** The memory that a killed PostgreSQL leaves is in its folder. */
    private static EmbeddedPostgresOptions options(Path data) {
        return new EmbeddedPostgresOptions(data, TestPostgres.BINARIES,
                Map.of("fsync", "off", "full_page_writes", "off", "dynamic_shared_memory_type", "mmap"), true);
    }

    /** A copy of the running primary, as a base backup, that continues as its standby. */
    private static void copy(EmbeddedPostgres primary, Path from, Path to) throws IOException, SQLException {
        FilePermissions.createPrivateDirectory(to);
        Files.copy(DataDirectory.secretFile(from), DataDirectory.secretFile(to), StandardCopyOption.COPY_ATTRIBUTES);
        Path cluster = DataDirectory.cluster(to);
        try (Connection connection = primary.url("postgres").connect();
                Statement statement = connection.createStatement()) {
            statement.execute("select pg_backup_start('standby', true)");
            copyTree(DataDirectory.cluster(from), cluster);
            try (ResultSet row = statement.executeQuery("select labelfile from pg_backup_stop(false)")) {
                row.next();
                Files.writeString(cluster.resolve("backup_label"), row.getString(1));
            }
        }
        Files.createFile(cluster.resolve("standby.signal"));
        DatabaseUrl url = primary.url();
        String[] place = url.hosts().split(":");
        Files.writeString(cluster.resolve("postgresql.auto.conf"), "primary_conninfo = 'host=" + place[0] + " port="
                + place[1] + " user=" + url.user() + " password=" + url.password() + "'\n",
                StandardOpenOption.APPEND);
    }

    private static void copyTree(Path from, Path to) throws IOException {
        for (Path each : FilePermissions.tree(from)) {
            Path target = to.resolve(from.relativize(each).toString());
            if (Files.isDirectory(each)) {
                FilePermissions.createPrivateDirectory(target);
            } else if (!OF_THE_PROCESS.contains(each.getFileName().toString())) {
                Files.copy(each, target, StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }

    private long postmaster() throws IOException {
        return PostmasterFile.read(DataDirectory.cluster(primaryFolder)).orElseThrow().pid();
    }

    private List<Long> processes() throws IOException {
        Path cluster = DataDirectory.cluster(primaryFolder);
        return PostmasterFile.read(cluster).flatMap(file -> ProcessHandle.of(file.pid())).stream()
                .flatMap(main -> Stream.concat(Stream.of(main), main.descendants())).map(ProcessHandle::pid).toList();
    }

    private static void signal(String signal, List<Long> processes) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("kill", signal));
        processes.forEach(each -> command.add(each.toString()));
        if (!processes.isEmpty()) {
            new ProcessBuilder(command).start().waitFor();
        }
    }

    private interface Condition {
        boolean holds() throws SQLException;
    }

    private static void await(Condition condition) {
        Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(condition::holds);
    }

    private static long number(EmbeddedPostgres at, String sql) throws SQLException {
        return Long.parseLong(text(at, sql));
    }

    private static String text(EmbeddedPostgres at, String sql) throws SQLException {
        try (Connection connection = at.url("postgres").connect();
                Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void execute(EmbeddedPostgres at, String sql) throws SQLException {
        try (Connection connection = at.url("postgres").connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
