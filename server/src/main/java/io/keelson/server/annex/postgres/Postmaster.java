package io.keelson.server.annex.postgres;

import static java.util.Objects.requireNonNull;

import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A running PostgreSQL under a small shell supervisor that stops it when this JVM closes its pipe or dies. */
final class Postmaster {

    /** Recovery after a crash may replay {@code max_wal_size} of log, hence minutes. */
    private static final Duration START_LIMIT = Duration.ofMinutes(5);
    /** The time that PostgreSQL gets to write its data on a stop; then it is ended as in a crash. */
    private static final Duration FAST_STOP_LIMIT = Duration.ofSeconds(30);
    private static final long POLL_MILLIS = 5;

    private final Process supervisor;
    private final int port;

    private Postmaster(Process supervisor, int port) {
        this.supervisor = supervisor;
        this.port = port;
    }

    /**
     * Starts the cluster's server and waits until it accepts connections, according to its own {@code postmaster.pid}.
     * Connects to no port before our own server is known to hold it.
     *
     * @param throwaway whether its data is of no use after the stop, which then does not write it
     * @return empty if the port is in use
     * @throws DatabaseException DATA_DIR_FULL, or EMBEDDED_POSTGRES_FAILED with the tail of its log
     */
    static Optional<Postmaster> start(Cluster cluster, int port, Map<String, String> settings, boolean throwaway) {
        try {
            var log = new PostgresLog(cluster.logs());
            var postmaster = new Postmaster(launch(cluster.serverCommand(port, settings),
                    throwaway ? Duration.ZERO : FAST_STOP_LIMIT, log.startFile()), port);
            if (postmaster.awaitReady(cluster)) {
                return Optional.of(postmaster);
            }
            if (taken(port)) {
                return Optional.empty();
            }
            String tail = log.tail();
            if (FullDisk.named(tail) || FullDisk.at(cluster.path())) {
                throw FullDisk.failure(cluster.path(), null);
            }
            throw new DatabaseException(Code.EMBEDDED_POSTGRES_FAILED, "The embedded PostgreSQL did not start on "
                    + cluster.path() + ". The end of its log:" + tail);
        } catch (IOException e) {
            throw DataDirectory.notWritable(cluster.logs(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DatabaseException(Code.EMBEDDED_POSTGRES_FAILED, "Interrupted while PostgreSQL was starting.", e);
        }
    }

    int port() {
        return port;
    }

    boolean isAlive() {
        return supervisor.isAlive();
    }

    /** Runs an action when PostgreSQL has ended for any reason. */
    void onEnd(Runnable what) {
        var _ = supervisor.onExit().thenRun(what);
    }

    /** Closes the pipe, at which the supervisor stops PostgreSQL, and waits for the end of both. */
    void stop() {
        try {
            supervisor.getOutputStream().close();
            supervisor.waitFor(FAST_STOP_LIMIT.plusSeconds(5).toSeconds(), TimeUnit.SECONDS);
        } catch (IOException e) {
            supervisor.destroy();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** False, with nothing left running, where it ended or took too long. */
    private boolean awaitReady(Cluster cluster) throws IOException, InterruptedException {
        boolean ready = false;
        try {
            long deadline = System.nanoTime() + START_LIMIT.toNanos();
            while (!ready && System.nanoTime() < deadline && !supervisor.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                ready = PostmasterFile.read(cluster.path()).filter(file -> file.ready() && isOurs(file)).isPresent();
            }
            return ready;
        } finally {
            if (!ready) {
                stop();
            }
        }
    }

    private boolean isOurs(PostmasterFile file) {
        return file.port() == port && supervisor.descendants().anyMatch(child -> child.pid() == file.pid());
    }

    private static Process launch(List<String> server, Duration grace, Path output) throws IOException {
        var command = new ArrayList<>(ownSession());
        command.addAll(List.of("sh", "-c", script(), "keelson-postgres", Long.toString(grace.toSeconds())));
        command.addAll(server);
        return Shell.builder(command).redirectError(output.toFile()).redirectOutput(Redirect.DISCARD).start();
    }

    /** A session of its own keeps a terminal's Ctrl-C from stopping PostgreSQL before the server has finished. */
    private static List<String> ownSession() {
        return Files.isExecutable(Path.of("/usr/bin/setsid")) ? List.of("/usr/bin/setsid") : List.of();
    }

    private static String script() throws IOException {
        try (InputStream in = Postmaster.class.getResourceAsStream("supervise.sh")) {
            return new String(requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static boolean taken(int port) {
        try (var probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return !probe.isBound();
        } catch (IOException e) {
            return true;
        }
    }
}
