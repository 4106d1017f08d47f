package io.keelson.process;

import io.keelson.client.Keelson;
import io.keelson.server.ServerProxy;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.CountingProxy.Loss;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A server process that can be killed at the very moment when it commits or answers, and started again. */
final class KilledNode implements AutoCloseable {

    /** Where a node is when it is killed. */
    enum Point {
        /** It has sent what is to be committed; PostgreSQL has not got it. */
        BEFORE_COMMIT,
        /** PostgreSQL has committed and said so; the node does not know. */
        AFTER_COMMIT,
        /** The node has begun to answer its client; the client does not know. */
        BEFORE_REPLY
    }

    private final Path folder;
    private final CountingProxy toDatabase;
    private volatile ServerProcess process;
    private final ServerProxy gate = new ServerProxy(() -> process.url());
    private final Map<String, String> settings;
    private CountDownLatch doomed = new CountDownLatch(0);

    KilledNode(Path folder, DatabaseUrl database, Map<String, String> settings) throws IOException {
        this.folder = folder;
        this.toDatabase = new CountingProxy(database);
        this.settings = new HashMap<>(settings);
        this.settings.put("KEELSON_DATABASE_URL", TestDatabase.text(toDatabase.url()));
        this.process = ServerProcess.launch(folder, this.settings);
    }

    /** Waits until it takes runs. */
    void awaitReady() {
        process.awaitReady();
    }

    /** By way of the gate. */
    Keelson client() throws IOException {
        return process.client(gate.url().toString(), Duration.ofSeconds(10));
    }

    /** The way by the gate as the environment of a program names it. */
    Map<String, String> address() throws IOException {
        return Map.of("KEELSON_URL", gate.url().toString(), "KEELSON_API_KEY",
                Files.readString(folder.resolve("api-key")).strip());
    }

    /**
     * Kills it when it gets there, after it has got past so many times, and returns once it is dead.
     *
     * @param write what is committed then; of no account before a reply, which is the next one
     */
    void killAt(Point point, Write write, int past) throws IOException, InterruptedException {
        doom(point, write, past);
        awaitDeath();
    }

    /** The same without waiting for it. When it is started again meanwhile, that process is the one to be killed. */
    void doom(Point point, Write write, int past) {
        Runnable kill = doom();
        switch (point) {
            case BEFORE_COMMIT -> toDatabase.lose(Loss.REQUEST, write, past, kill);
            case AFTER_COMMIT -> toDatabase.lose(Loss.ANSWER, write, past, kill);
            case BEFORE_REPLY -> gate.withhold(kill);
        }
    }

    /** It is not to be killed any more. */
    void spare() {
        toDatabase.spare();
    }

    /** Returns the action that kills it. */
    Runnable doom() {
        CountDownLatch dead = new CountDownLatch(1);
        doomed = dead;
        return () -> {
            process.killNow();
            dead.countDown();
        };
    }

    /** Waits until it has got to where it is killed. */
    void awaitDeath() throws IOException, InterruptedException {
        if (!doomed.await(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("it did not get to where it is killed:\n" + process.log());
        }
    }

    /** Waits for a while until it has got to where it is killed; true if it has. */
    boolean diesWithin(Duration time) throws InterruptedException {
        return doomed.await(time.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Starts it again; {@link #awaitReady} tells when it is there. */
    void restart() throws IOException {
        process = ServerProcess.launch(folder, settings);
    }

    @Override
    public void close() throws IOException {
        spare();
        process.close();
        toDatabase.close();
        gate.close();
    }
}
