package io.keelson.process;

import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Three PostgreSQL under Patroni behind HAProxy, which {@code scripts/patroni-cluster} starts. */
final class PatroniCluster implements AutoCloseable {

    private static final List<Integer> NODES = List.of(1, 2, 3);
    private static final String PROXY = "10.98.0.20:7440";
    private static final Path SCRIPT = Path.of("../scripts/patroni-cluster").toAbsolutePath().normalize();
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Duration USUAL = Duration.ofSeconds(60);
    private static final int REBUILDS = 4;
    private static final int LINES = 40;
    private static final Duration POLL = Duration.ofMillis(20);

    /** A fault of the primary's node. */
    enum Fault {
        KILL,
        CRASH,
        FREEZE,
        CUT,
        HALF_OPEN;

        /** As the script and the table name it. */
        String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private final Path folder;
    private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

    private PatroniCluster(Path folder) {
        this.folder = folder;
    }

    static PatroniCluster start() throws IOException, InterruptedException {
        // PostgreSQL's user has no access to a test's own folder
        PatroniCluster cluster = new PatroniCluster(Files.createTempDirectory("keelson-patroni"));
        try {
            cluster.script("up");
            cluster.awaitRedundancy();
            return cluster;
        } catch (IOException | RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    /** The database by the addresses of all nodes. */
    DatabaseUrl byHosts() {
        return url("10.98.0.1:7440,10.98.0.2:7440,10.98.0.3:7440", "targetServerType=primary");
    }

    /** The database by HAProxy's address. */
    DatabaseUrl byProxy() {
        return url(PROXY, "");
    }

    private static DatabaseUrl url(String hosts, String parameters) {
        return new DatabaseUrl(hosts, "keelson", "keelson", "keelson", parameters);
    }

    private static DatabaseUrl of(int node) {
        return url("10.98.0." + node + ":7440", "connectTimeout=2&socketTimeout=5");
    }

    /**
     * Applies the fault to the primary, and returns when another node accepts changes.
     *
     * @return the node with the fault, and the moment of the promotion by {@link System#nanoTime()}
     */
    Promotion fail(Fault fault) throws IOException, InterruptedException {
        int old = primary();
        CompletableFuture<Long> promoted = new CompletableFuture<Long>().orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS);
        for (int node : NODES) {
            if (node != old) {
                Thread.ofVirtual().start(() -> watch(of(node), promoted));
            }
        }
        long begun = System.nanoTime();
        script(fault.text(), Integer.toString(old));
        long at = promoted.join();
        CompletableFuture<Long> reached = new CompletableFuture<Long>().orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS);
        Thread.ofVirtual().start(() -> watch(url(PROXY, "connectTimeout=1&loginTimeout=1&socketTimeout=1"), reached));
        return new Promotion(old, at, Duration.ofNanos(at - begun),
                reached.thenApply(end -> Duration.ofNanos(end - at)));
    }

    /**
     * A standby that has become the primary.
     *
     * @param old the node with the fault
     * @param at by {@link System#nanoTime()}
     * @param after since the fault
     * @param reached the time until HAProxy led to it
     */
    record Promotion(int old, long at, Duration after, CompletableFuture<Duration> reached) {}

    private static void watch(DatabaseUrl url, CompletableFuture<Long> promoted) {
        while (!promoted.isDone()) {
            try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
                while (!promoted.isDone()) {
                    if (!isStandby(statement)) {
                        promoted.complete(System.nanoTime());
                    }
                    LockSupport.parkNanos(POLL.toNanos());
                }
            } catch (SQLException e) {
                // a standby that follows another primary may end its connections
                LockSupport.parkNanos(POLL.toNanos());
            }
        }
    }

    private static boolean isStandby(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("select pg_is_in_recovery()")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    /** Undoes a fault. */
    void repair(int node) throws IOException, InterruptedException {
        script("repair", Integer.toString(node));
    }

    private int primary() {
        return NODES.stream().filter(PatroniCluster::isPrimary).findFirst().orElseThrow();
    }

    private static boolean isPrimary(int node) {
        try (Connection connection = of(node).connect(); Statement statement = connection.createStatement()) {
            return !isStandby(statement);
        } catch (SQLException e) {
            return false;
        }
    }

    /**
     * Waits until two standbys follow the primary, one of them synchronously. Builds a standby again that was ahead of the new primary,
     * because Patroni does not.
     */
    void awaitRedundancy() throws IOException {
        if (!isRedundantWithin(USUAL)) {
            List<Integer> behind = new ArrayList<>(NODES);
            behind.removeIf(PatroniCluster::isPrimary);
            following().forEach(name -> behind.remove(Integer.valueOf(name.substring(1))));
            System.out.println("failover: nodes built again: " + behind);
            if (!isRedundantAfterRebuildOf(behind)) {
                StringBuilder logs = new StringBuilder();
                for (int node : NODES) {
                    List<String> lines = Files.readAllLines(folder.resolve("n" + node + "/log")).stream()
                            .filter(line -> line.contains(" INFO: ") || line.contains(" ERROR: ")).toList();
                    logs.append(String.join("\n", lines.subList(Math.max(0, lines.size() - LINES), lines.size())))
                            .append("\n\n");
                }
                throw new IllegalStateException("the cluster did not recover: " + roles() + "\n" + logs);
            }
        }
    }

    /** Patroni refuses to build a node again that is just starting. */
    private boolean isRedundantAfterRebuildOf(List<Integer> behind) {
        for (int i = 0; i < REBUILDS; i++) {
            behind.forEach(this::rebuild);
            if (isRedundantWithin(USUAL)) {
                return true;
            }
        }
        return false;
    }

    private boolean isRedundantWithin(Duration limit) {
        try {
            Awaitility.await().atMost(limit).pollInterval(Duration.ofMillis(300))
                    .until(() -> roles().containsAll(List.of("leader", "sync_standby", "replica"))
                            && following().size() == NODES.size() - 1);
            return true;
        } catch (ConditionTimeoutException e) {
            return false;
        }
    }

    /** Roles of the nodes that work. */
    private List<String> roles() {
        List<String> roles = new ArrayList<>();
        NODES.stream().map(this::state).flatMap(Stream::ofNullable).findFirst()
                .ifPresent(state -> state.path("members").forEach(member -> {
                    if (List.of("running", "streaming").contains(member.path("state").asString(""))) {
                        roles.add(member.path("role").asString(""));
                    }
                }));
        return roles;
    }

    /** Names of the standbys that follow the primary. */
    private List<String> following() {
        List<String> names = new ArrayList<>();
        try (Connection connection = byProxy().connect(); Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select application_name from pg_stat_replication where state = 'streaming'")) {
            while (row.next()) {
                names.add(row.getString(1));
            }
        } catch (SQLException e) {
            // there is no primary yet
        }
        return names;
    }

    private void rebuild(int node) {
        try {
            HttpResponse<String> answer =
                    http.send(HttpRequest.newBuilder(URI.create("http://10.98.0." + node + ":7441/reinitialize"))
                            .POST(BodyPublishers.ofString("{\"force\": true}")).timeout(LIMIT).build(),
                            BodyHandlers.ofString());
            System.out.println("failover: rebuild of node " + node + ": " + answer.statusCode() + " " + answer.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private @Nullable JsonNode state(int node) {
        try {
            return Json.read(http.send(HttpRequest.newBuilder(URI.create("http://10.98.0." + node + ":7441/cluster"))
                    .timeout(Duration.ofSeconds(2)).build(), BodyHandlers.ofByteArray()).body());
        } catch (IOException e) {
            return null;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void script(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(SCRIPT.toString(), folder.toString()));
        command.addAll(List.of(arguments));
        Path log = folder.resolve("script.log");
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
        process.getOutputStream().close();
        if (process.waitFor() != 0) {
            throw new IOException(command + ": " + Files.readString(log, StandardCharsets.UTF_8));
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        script("down");
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
