package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.process.PatroniCluster.Fault;
import io.keelson.process.PatroniCluster.Promotion;
import io.keelson.server.Invariants;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two servers under load on a PostgreSQL whose primary fails again and again, one by a URL with all hosts and one by HAProxy's
 * address. Prints the table of <a href="../../../../../../../docs/operate/operations.md">operations</a>.
 * {@code -Dkeelson.failovers=1} is the number of failovers of each kind, {@code -Dkeelson.failovers.kinds=cut,kill} selects kinds.
 */
@EnabledIfSystemProperty(named = "keelson.long", matches = "true")
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class PatroniTest {

    private static final Duration PAUSE = Duration.ofSeconds(5);
    /** Acknowledged requests before and after each fault. */
    private static final int MORE = 10;
    private static final Duration COMPLETED = Duration.ofSeconds(60);
    private static final String SECRET_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

    private final List<Row> rows = new ArrayList<>();

    @TempDir
    private Path folder;

    /**
     * A failover as clients of one server saw it.
     *
     * @param pause from the promotion of the new primary to the first acknowledged request
     * @param stuck acknowledged runs that did not complete
     * @param runs ids of the runs acknowledged since the failover before, by their names
     */
    private record Row(Fault fault, String url, Duration pause, int stuck, Map<String, String> runs) {}

    @Test
    void nothingIsLostDoubledOrStuck() throws Exception {
        Assumptions.assumeTrue(Stream.of("patroni", "etcd", "haproxy", "nft", "ip").allMatch(PatroniTest::isInstalled),
                "scripts/patroni-cluster names the packages that are missing");
        try (Bank bank = new Bank();
                PatroniCluster cluster = PatroniCluster.start();
                Server first = server("hosts", cluster.byHosts(), bank);
                Server second = server("proxy", cluster.byProxy(), bank)) {
            RepeatedRuns byHosts = new RepeatedRuns("hosts-", first);
            RepeatedRuns byProxy = new RepeatedRuns("proxy-", second);
            try (byHosts; byProxy) {
                for (int i = 0; i < Integer.getInteger("keelson.failovers", 6); i++) {
                    for (Fault fault : faults()) {
                        failOver(cluster, fault, byHosts, byProxy);
                    }
                }
            }
            try (Database database = new Database(cluster.byProxy(), DatabaseOptions.DEFAULTS.withPoolSize(2))) {
                report(cluster.byProxy(), bank, byHosts, byProxy);
                Invariants.hold(database);
            }
        }
    }

    private void failOver(PatroniCluster cluster, Fault fault, RepeatedRuns byHosts, RepeatedRuns byProxy)
            throws Exception {
        cluster.awaitRedundancy();
        byHosts.await(MORE);
        byProxy.await(MORE);
        Promotion promotion = cluster.fail(fault);
        Duration hosts = byHosts.firstAfter(promotion.at());
        Duration proxy = byProxy.firstAfter(promotion.at());
        byHosts.await(MORE);
        byProxy.await(MORE);
        Row first = row(cluster, fault, "hosts", hosts, byHosts);
        Row second = row(cluster, fault, "proxy", proxy, byProxy);
        rows.addAll(List.of(first, second));
        System.out.printf(
                "failover %d: %s, promoted after %d ms, pause by hosts %d ms, by proxy %d ms (which took %d ms itself), stuck %d and %d, load %.1f%n",
                rows.size() / 2, fault.text(), promotion.after().toMillis(), hosts.toMillis(), proxy.toMillis(),
                promotion.reached().join().toMillis(),
                first.stuck(), second.stuck(), ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        cluster.repair(promotion.old());
    }

    private Row row(PatroniCluster cluster, Fault fault, String url, Duration pause, RepeatedRuns clients) {
        Map<String, String> runs = new TreeMap<>(clients.created());
        rows.forEach(before -> runs.keySet().removeAll(before.runs().keySet()));
        return new Row(fault, url, pause, stuck(cluster.byProxy(), clients.started()), runs);
    }

    private static List<Fault> faults() {
        String kinds = System.getProperty("keelson.failovers.kinds");
        return Arrays.stream(Fault.values())
                .filter(each -> kinds == null || List.of(kinds.split(",")).contains(each.text()))
                .toList();
    }

    /** Waits until these runs have completed, and returns the number of others. */
    private static int stuck(DatabaseUrl url, Set<String> runs) {
        try {
            Awaitility.await().atMost(COMPLETED).pollInterval(Duration.ofMillis(300))
                    .until(() -> read(url, "select id::text from orchestration_runs where state = 'completed'")
                            .containsAll(runs));
            return 0;
        } catch (ConditionTimeoutException e) {
            Set<String> open = new TreeSet<>(runs);
            open.removeAll(read(url, "select id::text from orchestration_runs where state = 'completed'"));
            System.out.println("failover: not completed: " + open);
            return open.size();
        }
    }

    private void report(DatabaseUrl url, Bank bank, RepeatedRuns byHosts, RepeatedRuns byProxy) {
        Set<String> present = new TreeSet<>(read(url, "select id::text from orchestration_runs"));
        Set<String> doubled =
                new TreeSet<>(read(url, "select title from orchestration_runs group by title having count(*) > 1"));
        doubled.addAll(bank.doubled());
        System.out.println("""
                | fault | URL | failovers | runs | lost | doubled | stuck | pause, median | pause, longest |
                |---|---|---|---|---|---|---|---|---|""");
        for (Fault fault : faults()) {
            for (String by : List.of("hosts", "proxy")) {
                List<Row> its = rows.stream().filter(row -> row.fault() == fault && row.url().equals(by)).toList();
                List<Duration> pauses = its.stream().map(Row::pause).sorted().toList();
                System.out.printf("| %s | %s | %d | %d | %d | %d | %d | %.1f s | %.1f s |%n", fault.text(), by,
                        its.size(),
                        its.stream().mapToInt(row -> row.runs().size()).sum(),
                        its.stream().mapToLong(row -> row.runs().values().stream().filter(id -> !present.contains(id))
                                .count()).sum(),
                        its.stream().mapToLong(row -> row.runs().keySet().stream().filter(doubled::contains).count())
                                .sum(),
                        its.stream().mapToInt(Row::stuck).sum(), seconds(pauses.get(pauses.size() / 2)),
                        seconds(pauses.getLast()));
            }
        }
        List<String> refusals = new ArrayList<>(byHosts.refusals());
        refusals.addAll(byProxy.refusals());
        assertThat(refusals).isEmpty();
        assertThat(present).containsAll(byHosts.created().values()).containsAll(byProxy.created().values());
        assertThat(doubled).isEmpty();
        assertThat(bank.paid()).isNotEmpty();
        assertThat(read(url, "select id::text from orchestration_runs where state = 'completed'"))
                .containsAll(byHosts.started()).containsAll(byProxy.started());
        assertThat(rows).allSatisfy(row -> assertThat(row.stuck()).isZero());
        assertThat(Collections.max(rows.stream().map(Row::pause).toList())).isLessThanOrEqualTo(PAUSE);
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }

    private Server server(String name, DatabaseUrl url, Bank bank) throws Exception {
        Path data = folder.resolve(name);
        String text = "postgresql://" + url.user() + ":" + url.password() + "@" + url.hosts() + "/" + url.database()
                + (url.parameters().isEmpty() ? "" : "?" + url.parameters());
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", text, "KEELSON_SECRET_KEY", SECRET_KEY, "KEELSON_ALLOW_PRIVATE_ADDRESSES",
                "true", "KEELSON_INITIAL_CREDITS", "1000000", "KEELSON_COMMAND_TYPES",
                Bank.types(bank.url())), data, data));
    }

    private static List<String> read(DatabaseUrl url, String sql) {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (row.next()) {
                found.add(row.getString(1));
            }
            return found;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isInstalled(String program) {
        return Stream.of((System.getenv("PATH") + ":/usr/sbin:/sbin").split(":"))
                .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
    }
}
