package io.keelson.server.annex.postgres;

import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestPostgres;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.awaitility.Awaitility;

/** A PostgreSQL of a test's own that is ended at once, as by {@code pg_ctl stop -m immediate}, and started again on its data. */
public final class FaultyPostgres implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final EmbeddedPostgresOptions options;
    private final Path folder;
    private volatile EmbeddedPostgres running;

    private FaultyPostgres(Path folder, EmbeddedPostgresOptions options) {
        this.folder = folder;
        this.options = options;
        this.running = EmbeddedPostgres.start(options);
    }

    /**
     * Starts it. Its processes are killed and not the machine, so nothing need be synced.
     *
     * @param settings more settings of PostgreSQL
     */
    public static FaultyPostgres start(Path folder, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(Map.of("fsync", "off", "dynamic_shared_memory_type", "mmap"));
        all.putAll(settings);
        return new FaultyPostgres(folder,
                new EmbeddedPostgresOptions(folder, TestPostgres.BINARIES, all, false));
    }

    /** Where it listens now. A start may give it another port. */
    public URI address() {
        return URI.create("tcp://" + running.url().hosts());
    }

    /** Its database. */
    public DatabaseUrl url() {
        return running.url();
    }

    /** The URL of its database by another address, as settings take it. */
    public String text(String authority) {
        DatabaseUrl url = running.url();
        return "postgresql://" + url.user() + ":" + url.password() + "@" + authority + "/" + url.database();
    }

    /** Ends all its processes without a checkpoint, and returns when they have ended. */
    public void end() throws IOException, InterruptedException {
        long pid = PostmasterFile.read(DataDirectory.cluster(folder)).orElseThrow().pid();
        new ProcessBuilder("kill", "-QUIT", Long.toString(pid)).start().waitFor();
        Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(10)).until(() -> !running.isAlive());
    }

    /** Moves its log to another folder, such as that of a disk of its own, and starts it again. */
    public void moveLog(Path to) throws IOException, InterruptedException {
        end();
        Path log = DataDirectory.cluster(folder).resolve("pg_wal");
        if (new ProcessBuilder("mv", log.toString(), to.toString()).start().waitFor() != 0) {
            throw new IOException("cannot move " + log);
        }
        Files.createSymbolicLink(log, to.resolve(log.getFileName()));
        begin();
    }

    /** False once it has ended. */
    public boolean isAlive() {
        return running.isAlive();
    }

    /** Starts it on its data after its end. */
    public void begin() {
        running.close();
        Awaitility.await().atMost(LIMIT).ignoreExceptionsInstanceOf(DatabaseException.class).until(() -> {
            running = EmbeddedPostgres.start(options);
            return true;
        });
    }

    @Override
    public void close() {
        running.close();
    }
}
