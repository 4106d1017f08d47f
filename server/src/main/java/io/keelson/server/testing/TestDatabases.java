package io.keelson.server.testing;

import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Migrations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Databases for test servers, copies of one template, on one embedded PostgreSQL that ends with the JVM. */
final class TestDatabases {
    /** Where PostgreSQL's programs are unpacked once; a folder of the user if absent. */
    private static final String BINARIES = "keelson.test.postgres";
    private static final String TEMPLATE = "keelson_template";

    private static final List<Runnable> AT_EXIT = new CopyOnWriteArrayList<>();

    private static @Nullable EmbeddedPostgres server;
    private static int count;

    private TestDatabases() {}

    /** Creates a database with the schema and a {@link TestClock}. */
    static synchronized DatabaseUrl create() throws IOException, SQLException {
        EmbeddedPostgres postgres = server;
        if (postgres == null) {
            postgres = start();
            server = postgres;
        }
        count++;
        DatabaseUrl url = postgres.url("test_" + count);
        execute(postgres, "create database " + url.database() + " template " + TEMPLATE + " strategy file_copy");
        TestClock.use(url);
        return url;
    }

    static synchronized void drop(DatabaseUrl url) throws SQLException {
        if (server != null && server.isAlive()) {
            execute(server, "drop database " + url.database() + " with (force)");
        }
    }

    /** Executes an action at the end of the JVM, before PostgreSQL ends. */
    static void atExit(Runnable action) {
        AT_EXIT.add(action);
    }

    static void cancelAtExit(Runnable action) {
        AT_EXIT.remove(action);
    }

    private static EmbeddedPostgres start() throws IOException, SQLException {
        String chosen = System.getProperty(BINARIES);
        Path binaries = Files.createDirectories(
                chosen != null ? Path.of(chosen) : Path.of(System.getProperty("user.home"), ".keelson", "test"));
        Path folder = Files.createTempDirectory("keelson-test-");
        // Many databases: autovacuum would start a worker for each.
        EmbeddedPostgres postgres =
                EmbeddedPostgres.start(EmbeddedPostgresOptions.throwaway(folder.resolve("data"), binaries)
                        .with("max_connections", "200").with("autovacuum", "off"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            AT_EXIT.forEach(Runnable::run);
            postgres.close();
            delete(folder);
        }, "keelson-test-postgres"));
        execute(postgres, "create database " + TEMPLATE);
        TestClock.install(postgres.url(TEMPLATE));
        Migrations.migrate(postgres.url(TEMPLATE));
        return postgres;
    }

    private static void execute(EmbeddedPostgres postgres, String sql) throws SQLException {
        try (Connection connection = postgres.url("postgres").connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Deletes as much of a folder as it can. */
    static void delete(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            // Files of a test; the system deletes the rest of its folder for temporary files.
        }
    }
}
