package io.keelson.bench;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.lab.Lab;
import io.keelson.bench.report.Bar;
import io.keelson.bench.report.BenchmarkReport;
import io.keelson.bench.report.Results;
import io.keelson.bench.scenario.Bench;
import io.keelson.bench.scenario.Scenario;
import io.keelson.bench.scenario.Scenarios;
import io.keelson.bench.scenario.Sizes;
import io.keelson.bench.scenario.TenSteps;
import io.keelson.server.app.KeelsonVersion;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./benchmark}: lets the contenders take turns, scenario by scenario, and reports. */
@Command(name = "benchmark", mixinStandardHelpOptions = true, sortOptions = false,
        description = "Measures Keelson beside its peers on this machine. docs/internals/benchmarks.md says what and how.")
public final class Benchmark implements Callable<Integer> {

    /** For JVMs that shall start quickly and live shortly. */
    private static final List<String> QUICK = List.of("-XX:TieredStopAtLevel=1", "-Xmx256m");

    @Option(names = "--scenarios", split = ",", paramLabel = "NAME",
            description = "Only these: ${COMPLETION-CANDIDATES}.",
            completionCandidates = Names.class)
    List<String> scenarios = new Names().list();

    @Option(names = "--contenders", split = ",", paramLabel = "NAME",
            description = "Only these: ${COMPLETION-CANDIDATES}. All when not given; RESTATE, which npm has to bring,"
                    + " not in a smoke run.")
    List<ContenderKind> contenders = List.of();

    @Option(names = "--rounds", description = "Turns of each contender; ${DEFAULT-VALUE} when not given.")
    int rounds = 3;

    @Option(names = "--seconds", description = "How long each load is measured; ${DEFAULT-VALUE} when not given.")
    double seconds = 8;

    @Option(names = "--warmup",
            description = "Least seconds of load before each measurement; ${DEFAULT-VALUE} when not given. Up to 2.5 times"
                    + " as long while the compilers of the JVMs are busy.")
    double warmup = 12;

    @Option(names = "--in-flight", split = ",", paramLabel = "N",
            description = "Runs in flight; ${DEFAULT-VALUE} when not given.")
    List<Integer> inFlight = List.of(1, 8, 32, 128);

    @Option(names = "--drain", paramLabel = "N",
            description = "Runs or jobs in the queue drain; ${DEFAULT-VALUE} when not given.")
    int drain = 10_000;

    @Option(names = "--stages", paramLabel = "N",
            description = "Of 100 tasks each, in the big run; ${DEFAULT-VALUE} when not given.")
    int stages = 100;

    @Option(names = "--items", paramLabel = "N", description = "Of the fan-out; ${DEFAULT-VALUE} when not given.")
    int items = 1_000;

    @Option(names = "--history", paramLabel = "N",
            description = "Ended steps in the tables; ${DEFAULT-VALUE} when not given.")
    int history = 1_000_000;

    @Option(names = "--queued", paramLabel = "N",
            description = "Rows of the deep queue; ${DEFAULT-VALUE} when not given.")
    int queued = 1_000_000;

    @Option(names = "--recovered", paramLabel = "N",
            description = "Runs in flight when a node is killed, and slow steps; ${DEFAULT-VALUE} when not given.")
    int recovered = 10_000;

    @Option(names = "--lease", paramLabel = "SECONDS",
            description = "Of the node that is killed; ${DEFAULT-VALUE} when not given.")
    int lease = 5;

    @Option(names = "--servers", split = ",", paramLabel = "N",
            description = "Servers on one database; ${DEFAULT-VALUE} when not given.")
    List<Integer> servers = List.of(1, 2, 3, 4);

    @Option(names = "--smoke", description = "Everything tiny and quick: shows that it works, measures nothing.")
    boolean smoke;

    @Option(names = "--heap", description = "Of each contender's JVM; ${DEFAULT-VALUE} when not given.")
    String heap = "1g";

    @Option(names = "--out", paramLabel = "FOLDER",
            description = "For results.md, results.json and results.svg; ${DEFAULT-VALUE} when not given.")
    Path out = Path.of("bench", "target", "results");

    @Option(names = "--work", paramLabel = "FOLDER",
            description = "For the database and the contenders' logs; ${DEFAULT-VALUE} when not given.")
    Path work = Path.of("bench", "target", "work");

    @Spec
    @Nullable CommandSpec spec;

    private final Clock clock = Clock.systemUTC();
    /** Seconds by scenario, start of its contenders included. */
    private final Map<String, Double> taken = new LinkedHashMap<>();

    /** What {@code --scenarios} takes. */
    static final class Names implements Iterable<String> {
        List<String> list() {
            return Scenarios.ALL.stream().map(Scenario::name).toList();
        }

        @Override
        public java.util.Iterator<String> iterator() {
            return list().iterator();
        }
    }

    public static void main(String[] args) {
        System.exit(new CommandLine(new Benchmark()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
    }

    @Override
    public Integer call() throws Exception {
        BenchmarkReport report;
        try (Lab lab = new Lab(work.toAbsolutePath().resolve(clock.instant().toString().replaceAll("\\W", "")),
                work.toAbsolutePath(), jvm(), smoke ? QUICK : List.of())) {
            report = new BenchmarkReport(circumstances(lab), new Results());
            List<Callable<Void>> turns = new ArrayList<>();
            Scenarios.ALL.stream().filter(scenario -> scenarios.contains(scenario.name()))
                    .forEach(scenario -> turns.addAll(turns(lab, scenario, report)));
            // A measured turn runs alone; the smoke test runs two at a time.
            try (ExecutorService taking = Executors.newFixedThreadPool(smoke ? 2 : 1)) {
                for (Future<Void> turn : taking.invokeAll(turns)) {
                    turn.get();
                }
            }
        }
        say(report.markdown(bars(report)));
        return report.results().samples().isEmpty() ? 1 : 0;
    }

    private List<Bar> bars(BenchmarkReport report) {
        return new Bars(report.results(), sizes()).all();
    }

    /** After each turn, so that a go that is broken off has not been in vain. */
    private synchronized void write(BenchmarkReport report) throws IOException {
        report.circumstances().put("minutes", taken.entrySet().stream()
                .map(each -> String.format(Locale.ROOT, "%s %.1f", each.getKey(), each.getValue() / 60))
                .collect(Collectors.joining(", ")));
        report.write(out, bars(report), TenSteps.TITLE, sizes().inFlight().stream().map(TenSteps::inFlight).toList());
    }

    /** Orders turns as A, B, C; then B, C, A; and so on, so that no contender always follows the same one. */
    private List<Callable<Void>> turns(Lab lab, Scenario scenario, BenchmarkReport report) {
        List<ContenderKind> order = new ArrayList<>(scenario.contenders());
        order.retainAll(taking());
        int rounds = scenario.hasOneTurn() ? 1 : sizes().rounds();
        List<Callable<Void>> turns = new ArrayList<>();
        for (int round = 1; round <= rounds; round++) {
            for (ContenderKind kind : order) {
                int number = round;
                turns.add(() -> {
                    take(lab, scenario, kind, number, report.results());
                    write(report);
                    return null;
                });
            }
            Collections.rotate(order, -1);
        }
        return turns;
    }

    /** A contender that fails is noted, and the others go on. */
    private void take(Lab lab, Scenario scenario, ContenderKind kind, int round, Results results) throws Exception {
        say(clock.instant() + " " + scenario.name() + ", round " + round + ": " + kind.title());
        long begun = System.nanoTime();
        try (Lab.Turn turn = lab.turn()) {
            scenario.measure(new Bench(scenario, kind, round, sizes(), turn, results));
            turn.done();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            results.skip(scenario.title(), kind.title(), e.toString());
            say("  " + e);
        } finally {
            synchronized (this) {
                taken.merge(scenario.name(), (System.nanoTime() - begun) / 1e9, Double::sum);
            }
        }
    }

    /** Without them the figures say nothing. */
    private Map<String, String> circumstances(Lab lab) throws SQLException {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("when", clock.instant().truncatedTo(ChronoUnit.SECONDS).toString());
        all.put("Keelson", KeelsonVersion.current().toString());
        all.put("machine", Runtime.getRuntime().availableProcessors() + " processors, " + System.getProperty("os.name")
                + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch"));
        all.put("Java", System.getProperty("java.vm.version") + ", contenders with " + String.join(" ", jvm()));
        all.put("PostgreSQL", lab.settings().entrySet().stream().map(Object::toString)
                .collect(Collectors.joining(", ")));
        all.put("sizes", sizes().toString());
        return all;
    }

    private List<String> jvm() {
        List<String> options = new ArrayList<>(List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        options.addAll(smoke ? QUICK : List.of("-Xms" + heap, "-Xmx" + heap));
        return options;
    }

    private Set<ContenderKind> taking() {
        if (!contenders.isEmpty()) {
            return EnumSet.copyOf(contenders);
        }
        return smoke ? EnumSet.complementOf(EnumSet.of(ContenderKind.RESTATE)) : EnumSet.allOf(ContenderKind.class);
    }

    private Sizes sizes() {
        return smoke ? Sizes.smoke()
                : new Sizes(rounds, seconds, warmup, inFlight, drain, stages, items, history, queued, recovered, lease,
                        servers);
    }

    private void say(String text) {
        if (spec != null) {
            PrintWriter writer = spec.commandLine().getOut();
            writer.println(text);
            writer.flush();
        }
    }
}
