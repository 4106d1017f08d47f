package io.keelson.bench.lab;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Place;
import io.keelson.bench.lab.ContenderProcess.ContenderException;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import io.keelson.server.base.db.DatabaseUrl;
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
import java.util.concurrent.atomic.AtomicInteger;

/** One PostgreSQL for all contenders, with a fresh database for each turn. */
public final class Lab implements AutoCloseable {
    /** Settings that say how durable a commit is and what memory there is; shown with every report. */
    private static final List<String> REPORTED_SETTINGS = List.of("server_version", "fsync", "synchronous_commit",
            "full_page_writes", "wal_compression", "shared_buffers", "max_wal_size", "checkpoint_timeout");

    /** Where an embedded PostgreSQL of ours logs, below the data directory. */
    private static final String POSTGRES_LOG = "postgres/postgres-log";

    private final Path folder;
    private final Path cache;
    private final List<String> jvm;
    private final List<String> serverJvm;
    private final EmbeddedPostgres postgres;
    private final AtomicInteger turns = new AtomicInteger();
    private boolean closed;

    /**
     * @param folder for all that is left behind; its PostgreSQL data is deleted at the end
     * @param cache the programs of PostgreSQL and others, kept for the next time
     * @param jvm options of each contender's JVM
     * @param serverJvm options of servers that are looked at as users have them
     */
    public Lab(Path folder, Path cache, List<String> jvm, List<String> serverJvm) throws IOException {
        this.folder = folder;
        this.cache = cache;
        this.jvm = List.copyOf(jvm);
        this.serverJvm = List.copyOf(serverJvm);
        Files.createDirectories(folder);
        Files.createDirectories(cache);
        // Durable as Keelson's own embedded database is; only the number of connections is above its default.
        postgres = EmbeddedPostgres.start(new EmbeddedPostgresOptions(folder.resolve("postgres"), cache,
                Map.of("max_connections", "300"), true));
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /** One contender's turn: a folder, an empty database and, once started, its process; closing ends all three. */
    public final class Turn implements AutoCloseable {
        private final String name;
        private final DatabaseUrl url;
        private final Path place;
        private boolean done;

        private Turn(String name) throws IOException, SQLException {
            this.name = name;
            this.url = postgres.url(name);
            this.place = Files.createDirectories(folder.resolve(name));
            administer("create database " + name);
            // A contender must not wait for the pending writes of the one before.
            administer("checkpoint");
        }

        public DatabaseUrl url() {
            return url;
        }

        public ContenderProcess start(ContenderKind kind, Map<String, String> options)
                throws IOException, ContenderException, InterruptedException {
            return ContenderProcess.start(kind, placeWith(options), jvm);
        }

        /** Starts a server process on this turn's database, as its users start it. */
        public KeelsonServer server(String node, Map<String, String> settings)
                throws IOException, InterruptedException {
            return KeelsonServer.start(place.resolve(node), placeWith(Map.of()).postgresUrl(), serverJvm, settings);
        }

        /** Starts a server on an embedded PostgreSQL of its own. */
        public KeelsonServer serverWithDatabase(String node) throws IOException, InterruptedException {
            return KeelsonServer.start(place.resolve(node), null, serverJvm, Map.of());
        }

        /** From now on, statements on this turn's database are logged, for connections that are made later. */
        public StatementLog logStatements() throws SQLException {
            administer("alter database " + name + " set log_statement = 'all'");
            return new StatementLog(folder.resolve(POSTGRES_LOG));
        }

        private Place placeWith(Map<String, String> options) {
            return new Place(url.jdbc(), Objects.requireNonNull(url.user()), Objects.requireNonNull(url.password()),
                    place.toString(), cache.toString(), jvm, options);
        }

        /** Marks the turn as successful: its folder is not kept. */
        public void done() {
            done = true;
        }

        @Override
        public void close() throws SQLException, IOException {
            administer("drop database " + name + " with (force)");
            if (done) {
                Folders.delete(place);
            }
        }
    }

    public Turn turn() throws IOException, SQLException {
        return new Turn("turn_" + turns.incrementAndGet());
    }

    /** The server's settings that matter, by name. */
    public Map<String, String> settings() throws SQLException {
        Map<String, String> settings = new LinkedHashMap<>();
        try (Connection connection = postgres.url("postgres").connect();
                Statement statement = connection.createStatement()) {
            for (String name : REPORTED_SETTINGS) {
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

    /** Idempotent; the shutdown hook calls it again. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            postgres.close();
            // Not where turns that failed have left something to read: then it is not empty, and stays.
            folder.toFile().delete();
        }
    }
}
