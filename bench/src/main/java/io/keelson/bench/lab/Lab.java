package io.keelson.bench.lab;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Place;
import io.keelson.bench.lab.ContenderProcess.ContenderException;
import io.keelson.server.db.DatabaseUrl;
import io.keelson.server.db.embedded.EmbeddedPostgres;
import io.keelson.server.db.embedded.EmbeddedPostgresOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** One PostgreSQL for all contenders, with a fresh database for each turn. */
public final class Lab implements AutoCloseable {
    /** Settings that say how durable a commit is and what memory there is; shown with every report. */
    private static final List<String> TOLD = List.of("server_version", "fsync", "synchronous_commit",
            "full_page_writes", "wal_compression", "shared_buffers", "max_wal_size", "checkpoint_timeout");

    private final Path folder;
    private final List<String> jvm;
    private final EmbeddedPostgres postgres;
    private int turns;

    /**
     * @param folder for all that is left behind; its PostgreSQL data is deleted at the end
     * @param binaries the unpacked programs of PostgreSQL, kept for the next time
     * @param heap of each contender's JVM, such as {@code 1g}
     */
    public Lab(Path folder, Path binaries, String heap) throws IOException {
        this.folder = folder;
        this.jvm = List.of("-Xms" + heap, "-Xmx" + heap, "-XX:+UseSerialGC", "-XX:+UseCompactObjectHeaders",
                "--enable-native-access=ALL-UNNAMED");
        Files.createDirectories(folder);
        Files.createDirectories(binaries);
        // Durable as Keelson's own embedded database is; only the number of connections is above its default.
        postgres = EmbeddedPostgres.start(new EmbeddedPostgresOptions(folder.resolve("postgres"), binaries,
                Map.of("max_connections", "300"), true));
    }

    /** One contender's turn: a folder, an empty database and, once started, its process; closing ends all three. */
    public final class Turn implements AutoCloseable {
        private final String name;
        private final DatabaseUrl url;
        private final Path place;

        private Turn(String name) throws IOException, SQLException {
            this.name = name;
            this.url = postgres.url(name);
            this.place = Files.createDirectories(folder.resolve(name));
            administer("create database " + name);
            // What the one before left to be written is not for this one to wait for.
            administer("checkpoint");
        }

        public Path folder() {
            return place;
        }

        public DatabaseUrl url() {
            return url;
        }

        public ContenderProcess start(ContenderKind kind, Map<String, String> options)
                throws IOException, ContenderException, InterruptedException {
            return ContenderProcess.start(kind, new Place(url.jdbc(), Objects.requireNonNull(url.user()),
                    Objects.requireNonNull(url.password()), place.toString(), options), jvm);
        }

        @Override
        public void close() throws SQLException {
            administer("drop database " + name + " with (force)");
        }
    }

    public Turn turn() throws IOException, SQLException {
        return new Turn("turn_" + ++turns);
    }

    /** How the contenders' JVMs are started. */
    public List<String> jvm() {
        return jvm;
    }

    /** The server's settings that matter, by name. */
    public Map<String, String> settings() throws SQLException {
        Map<String, String> settings = new LinkedHashMap<>();
        try (Connection connection = postgres.url("postgres").connect();
                Statement statement = connection.createStatement()) {
            for (String name : TOLD) {
                try (ResultSet row = statement.executeQuery("show " + name)) {
                    row.next();
                    settings.put(name, row.getString(1));
                }
            }
        }
        return settings;
    }

    private void administer(String sql) throws SQLException {
        try (Connection connection = postgres.url("postgres").connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() {
        postgres.close();
    }
}
