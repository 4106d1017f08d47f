package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.Invariants;
import io.keelson.server.ServerProxy;
import io.keelson.server.base.db.Database;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Faults under load. Clients create, start and approve runs with charged steps, a payment that must not be repeated and a transfer,
 * and repeat each request until it is answered. Afterwards no acknowledged run may be lost, no payment doubled and no run stuck,
 * and the ledger must be right. Prints a row of the table in docs/internals/proof.md for each kind of fault.
 */
final class FaultTrials implements AutoCloseable {

    /** Acknowledged requests of each load before and after each fault. */
    private static final int MORE = 6;
    private static final Duration ENDED = Duration.ofMinutes(1);
    /** Codes that a client may get during a fault; it repeats the request. */
    private static final Set<String> CODES = Set.of("503 DATABASE_UNAVAILABLE", "503 DATABASE_FULL",
            "503 DATABASE_READ_ONLY", "503 OVERLOADED", "503 NOT_READY", "503 IDEMPOTENCY_IN_FLIGHT",
            "503 ARTIFACT_STORE_FAILED");

    private final Bank bank = new Bank();
    private final String moreSteps;
    private final String moreTasks;
    private final String config;
    private final List<RepeatedRuns> loads = new ArrayList<>();
    private final Map<String, List<Trial>> trials = new LinkedHashMap<>();
    private final Set<String> counted = new TreeSet<>();

    /**
     * One fault.
     *
     * @param pause from its end to the first acknowledged request, the longest of all loads
     * @param runs names of the runs that were acknowledged since the trial before
     */
    private record Trial(Duration pause, Set<String> runs) {}

    /** A fault and its end. */
    interface Fault {
        /** Returns the moment of its end by {@link System#nanoTime()}. */
        long happen() throws Exception;
    }

    FaultTrials() throws IOException {
        this("");
    }

    /** @param moreSteps of each mission, each with a comma before it, without costs */
    FaultTrials(String moreSteps) throws IOException {
        this(moreSteps, "", "{}");
    }

    /**
     * @param moreTasks of each mission, as {@code moreSteps}
     * @param config of each mission
     */
    FaultTrials(String moreSteps, String moreTasks, String config) throws IOException {
        this.moreSteps = moreSteps;
        this.moreTasks = moreTasks;
        this.config = config;
    }

    Bank bank() {
        return bank;
    }

    /** Settings of a server under such loads. */
    Map<String, String> settings(Map<String, String> more) {
        Map<String, String> all = new TreeMap<>(Map.of("KEELSON_LEASE_SECONDS", "3", "KEELSON_SECRET_KEY",
                "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true",
                "KEELSON_INITIAL_CREDITS", "1000000", "KEELSON_COMMAND_TYPES", Bank.types(bank.url())));
        all.putAll(more);
        return all;
    }

    /** Creates runs at one more server. */
    RepeatedRuns load(String prefix, ServerProxy.Address server, String apiKey) {
        RepeatedRuns load = new RepeatedRuns(prefix, server, apiKey, this::mission, true);
        loads.add(load);
        return load;
    }

    private String mission(String name) {
        return """
                {"name": "%s", "config": %s, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "a", "tool": "noop", "input": {"tokens": 3, "cost": 0.01}},
                  {"name": "agree", "kind": "approval", "input": {"question": "Go on?"}},
                  {"name": "pay", "tool": "bank.pay", "input": {"of": "%s"}},
                  {"name": "transfer", "tool": "bank.transfer", "input": {"of": "%s"}},
                  {"name": "b", "tool": "noop", "input": {"cost": 0.02}}%s]}%s]}}"""
                .formatted(name, config, name, name, moreSteps, moreTasks);
    }

    /** Has a fault happen between acknowledged requests of each load. */
    void run(String name, Fault fault) throws Exception {
        loads.forEach(each -> each.await(MORE));
        long end = fault.happen();
        Duration pause = loads.stream().map(each -> each.firstAfter(end)).max(Duration::compareTo).orElseThrow();
        loads.forEach(each -> each.await(MORE));
        Set<String> runs = created().keySet().stream().filter(counted::add).collect(Collectors.toSet());
        trials.computeIfAbsent(name, each -> new ArrayList<>()).add(new Trial(pause, runs));
        System.out.printf("fault: %s, pause %d ms, load %.1f%n", name, pause.toMillis(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private Map<String, String> created() {
        Map<String, String> all = new TreeMap<>();
        loads.forEach(each -> all.putAll(each.created()));
        return all;
    }

    /**
     * Ends the loads, prints a row for each fault, and checks what is left.
     *
     * @param longest allowed pause
     */
    void end(Database database, Duration longest) throws InterruptedException {
        for (RepeatedRuns each : loads) {
            each.close();
        }
        Map<String, String> created = created();
        Set<String> stuck = stuck(database);
        Set<String> present = read(database, "select id::text from orchestration_runs");
        Set<String> doubled = bank.doubled();
        doubled.addAll(read(database, "select title from orchestration_runs group by title having count(*) > 1"));
        Set<String> failed = read(database, "select title from orchestration_runs where state <> 'completed'");
        trials.forEach((name, its) -> {
            Set<String> runs = its.stream().map(Trial::runs).flatMap(Collection::stream).collect(Collectors.toSet());
            List<Duration> pauses = its.stream().map(Trial::pause).sorted().toList();
            System.out.printf("| %s | %d | %d | %d | %d | %d | %.1f s | %.1f s |%n", name, its.size(), runs.size(),
                    runs.stream().filter(each -> !present.contains(created.get(each))).count(),
                    runs.stream().filter(doubled::contains).count(),
                    runs.stream().filter(each -> stuck.contains(each) || failed.contains(each)).count(),
                    seconds(pauses.get(pauses.size() / 2)), seconds(pauses.getLast()));
        });
        System.out.println("fault: codes " + codes());
        assertThat(stuck).as("stuck").isEmpty();
        assertThat(loads).allSatisfy(each -> assertThat(each.refusals()).isEmpty());
        assertThat(CODES).containsAll(codes());
        assertThat(present).as("acknowledged runs").containsAll(created.values());
        assertThat(doubled).as("doubled").isEmpty();
        assertThat(failed).as("failed").isEmpty();
        assertThat(bank.paid()).as("payments").containsAll(created.keySet());
        assertThat(read(database, "select reserved::text from credit_balances where reserved <> 0")).isEmpty();
        assertThat(read(database, """
                select r.title || ' ' || h.total_cost || ' ' || coalesce(l.charged, 0) from orchestration_runs r
                  join run_heads h on h.run_id = r.id
                  left join (select run_id, sum(amount) as charged from billing_ledger
                    where transaction_type = 'charge' group by run_id) l on l.run_id = r.id
                 where h.total_cost <> 0.03 or l.charged is distinct from 0.03""")).as("costs and charges").isEmpty();
        assertThat(read(database, "select run_id::text from work_queue")).as("work left in the queue").isEmpty();
        Invariants.hold(database);
        assertThat(trials.values().stream().flatMap(Collection::stream).map(Trial::pause)
                .max(Duration::compareTo).orElseThrow()).as("longest pause").isLessThanOrEqualTo(longest);
    }

    /** Statuses and codes of the answers that had requests repeated. */
    Set<String> codes() {
        return loads.stream().map(RepeatedRuns::codes).flatMap(Collection::stream)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Waits until all runs have ended, and returns the names of the others. */
    private static Set<String> stuck(Database database) {
        String open = "select title from orchestration_runs where state_type <> 'terminal'";
        try {
            Awaitility.await().atMost(ENDED).pollInterval(Duration.ofMillis(100))
                    .until(() -> read(database, open).isEmpty());
            return Set.of();
        } catch (ConditionTimeoutException e) {
            System.out.println("fault: stuck: " + read(database, """
                    select r.title || ': ' || r.state || ', step ' || s.name || ' ' || s.state || ' ' || coalesce(s.error_code, '')
                      from orchestration_runs r join orchestration_steps s on s.run_id = r.id
                     where r.state_type <> 'terminal' and s.state not in ('completed', 'pending')"""));
            return read(database, open);
        }
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }

    static Set<String> read(Database database, String sql) {
        return database.withConnection(c -> {
            Set<String> found = new TreeSet<>();
            try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                while (row.next()) {
                    found.add(row.getString(1));
                }
            }
            return found;
        });
    }

    @Override
    public void close() throws InterruptedException {
        for (RepeatedRuns each : loads) {
            each.abandon();
        }
        bank.close();
    }
}
