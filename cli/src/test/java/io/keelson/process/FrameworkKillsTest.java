package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.ChildJvm;
import io.keelson.api.money.LedgerEntry;
import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.process.HeldProxy.Hold;
import io.keelson.process.KillPlace.Victim;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.assertj.core.api.SoftAssertions;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Unmodified programs of frameworks, with tools and streams, are killed with their worker or server at points of the protocol: each run
 * is completed, each recorded answer was requested once and charged once, and costs what it costs without kills. An answer that is lost
 * with the server is charged once at its worst case, and requested again.
 */
@Timeout(value = 90, unit = TimeUnit.MINUTES)
@Breadth.InPart(5)
class FrameworkKillsTest {
    private static final List<Framework> FRAMEWORKS =
            Breadth.all() ? List.of(Framework.values()) : List.of(Framework.OPENAI);
    private static final List<KillPlace> PLACES = Breadth.all() ? List.of(KillPlace.values())
            : List.of(KillPlace.AFTER_ANSWER_2);
    private static final Duration PATIENCE = Duration.ofMinutes(4);
    private static final String ANSWER = "It is clear in all three.";
    private static final String SCRIPT = """
            rules:
              - {name: codex 1, when: {model: codex, turn: 1}, answer: {text: "Both at once.", calls: [{tool: exec_command, input: {cmd: "echo one", yield_time_ms: 30000}},
                  {tool: exec_command, input: {cmd: "sleep 0.1; echo two", yield_time_ms: 30000}}], usage: {input: 120, output: 20}}}
              - {name: codex 2, when: {model: codex, turn: 2}, answer: {text: "One more.", calls: [{tool: exec_command, input: {cmd: "echo three", yield_time_ms: 30000}}], usage: {input: 160, output: 20}}}
              - {name: claude 1, when: {model: claude, turn: 1}, answer: {text: "Both at once.", calls: [{tool: Bash, input: {command: "echo one", description: One}},
                  {tool: Bash, input: {command: "echo two", description: Two}}], usage: {input: 120, output: 20}}}
              - {name: claude 2, when: {model: claude, turn: 2}, answer: {text: "One more.", calls: [{tool: Bash, input: {command: "echo three", description: Three}}], usage: {input: 160, output: 20}}}
              - {name: opencode 1, when: {model: opencode, turn: 1}, answer: {text: "Both at once.", calls: [{tool: bash, input: {command: "echo one", description: One}},
                  {tool: bash, input: {command: "echo two", description: Two}}], usage: {input: 120, output: 20}}}
              - {name: opencode 2, when: {model: opencode, turn: 2}, answer: {text: "One more.", calls: [{tool: bash, input: {command: "echo three", description: Three}}], usage: {input: 160, output: 20}}}
              - {name: look up, when: {model: small, turn: 1}, answer: {text: "Both at once.", calls: [{tool: weather, input: {city: Oslo}},
                  {tool: weather, input: {city: Bergen}}], usage: {input: 120, output: 20}}}
              - {name: look up another, when: {model: small, turn: 2}, answer: {text: "One more.", calls: [{tool: weather, input: {city: Tromso}}], usage: {input: 160, output: 20}}}
              - {name: answer, answer: {text: "%s", usage: {input: 200, output: 12}}}
            """
            .formatted(ANSWER);
    private static final String MODEL = """
              %s: {wire: %s, base_url: "%s", model: %s, family: dev, context_tokens: 200000, max_output_tokens: 32000,
                prices: {input: 0.25, output: 2}}
            """;

    private final Map<Framework, Tally> tallies = new EnumMap<>(Framework.class);
    private Path folder = Path.of("");

    /** The figures of a framework. */
    private static final class Tally {
        private int requests;
        private BigDecimal cost = BigDecimal.ZERO;
        private final Map<Victim, Integer> kills = new EnumMap<>(Victim.class);
        private int executions;
        private int sent;
        private int replayed;
        private int recorded;
        private int lost;
        private BigDecimal charged = BigDecimal.ZERO;
        private BigDecimal worst = BigDecimal.ZERO;
    }

    @Test
    void runsAreCompletedAndEachAnswerIsPaidOnce(@TempDir Path temporary) throws Exception {
        folder = temporary;
        Framework.install(FRAMEWORKS);
        DatabaseUrl url = TestDatabase.createUrl();
        try (TestModel model = new TestModel(SCRIPT);
                HeldProxy provider = new HeldProxy(() -> model.uri(""));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                KilledNode node = new KilledNode(folder.resolve("node"), url, Map.of("KEELSON_MODELS",
                        models(provider.url().toString()).toString()))) {
            node.awaitReady();
            try (HeldProxy gate = new HeldProxy(() -> URI.create(node.address().get("KEELSON_URL")));
                    World world = new World(node, gate, provider)) {
                world.round(null);
                SoftAssertions places = new SoftAssertions();
                for (KillPlace place : PLACES) {
                    places.assertThatCode(() -> world.round(place)).as("%s", place).doesNotThrowAnyException();
                }
                places.assertAll();
            }
            assertThat(node.client().credits().balance().reserved()).isEqualByComparingTo("0");
            Invariants.hold(database);
        } finally {
            System.out.println(table());
        }
    }

    private Path models(String provider) throws IOException {
        return Files.writeString(folder.resolve("models.yaml"), "models:\n"
                + MODEL.formatted("small-chat", "openai-chat", provider + "/v1", "small")
                + MODEL.formatted("small-responses", "openai-responses", provider + "/v1", "small")
                + MODEL.formatted("small-messages", "anthropic-messages", provider, "small")
                + MODEL.formatted("codex", "openai-responses", provider + "/v1", "codex")
                + MODEL.formatted("claude", "anthropic-messages", provider, "claude")
                + MODEL.formatted("opencode", "openai-chat", provider + "/v1", "opencode"));
    }

    private String table() {
        return "| framework | kills of program, worker, server | executions | requests at the provider | answers recorded, replayed |"
                + " lost | charged for answers, for lost ones |\n|---|---|---|---|---|---|---|\n"
                + tallies.entrySet().stream().map(each -> "| " + each.getKey().npm() + " | "
                        + Arrays.stream(Victim.values())
                                .map(victim -> each.getValue().kills.getOrDefault(victim, 0).toString())
                                .collect(Collectors.joining(", "))
                        + " | " + each.getValue().executions + " | " + each.getValue().sent + " | "
                        + each.getValue().recorded + ", " + each.getValue().replayed + " | " + each.getValue().lost
                        + " | " + each.getValue().charged.toPlainString() + ", "
                        + each.getValue().worst.toPlainString() + " |").collect(Collectors.joining("\n"));
    }

    /** A program of a framework in a run. */
    private record Started(Framework framework, String key, String run) {}

    /** The processes that are killed, and the proxies between them. */
    private final class World implements AutoCloseable {
        private final KilledNode node;
        private final HeldProxy gate;
        private final HeldProxy provider;
        private final Path pids = Files.createDirectories(folder.resolve("pids"));
        private final Path log = folder.resolve("worker.log");
        private Process worker;
        private int rounds;

        World(KilledNode node, HeldProxy gate, HeldProxy provider) throws Exception {
            this.node = node;
            this.gate = gate;
            this.provider = provider;
            Files.writeString(folder.resolve("program.sh"), Framework.program(pids));
            for (Framework each : FRAMEWORKS) {
                tallies.put(each, new Tally());
            }
            worker = startWorker();
            Awaitility.await().atMost(PATIENCE).ignoreExceptions().until(() -> node.client().tools().stream()
                    .map(tool -> tool.name()).toList()
                    .containsAll(FRAMEWORKS.stream().map(Framework::tool).toList()));
        }

        private Process startWorker() throws IOException {
            List<String> command = new ArrayList<>(ChildJvm.command());
            command.addAll(List.of("io.keelson.cli.Main", "worker", "--slots", Integer.toString(FRAMEWORKS.size()),
                    "--grace", "0", "--drain", "0", "--for", "codex"));
            FRAMEWORKS.forEach(each -> command.addAll(List.of("--tool", each.tool())));
            command.addAll(List.of("--", "sh", folder.resolve("program.sh").toString()));
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
            builder.environment().putAll(Map.of("KEELSON_URL", gate.url().toString(), "KEELSON_API_KEY",
                    node.address().get("KEELSON_API_KEY"), "KEELSON_DATA_DIR", folder.resolve("worker").toString()));
            return builder.redirectErrorStream(true).redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
        }

        /** @param place null for a round without kills, which shows the requests and the cost of each framework */
        void round(@Nullable KillPlace place) throws Exception {
            rounds++;
            List<Started> all = new ArrayList<>();
            List<Hold> holds = new ArrayList<>();
            for (Framework framework : FRAMEWORKS) {
                String key = "round " + rounds + " of " + framework.example() + ".";
                if (place != null && (holds.isEmpty() || !place.reports())) {
                    holds.add(place.hold(gate, provider, key));
                }
                all.add(new Started(framework, key, start(framework, key)));
            }
            if (place != null) {
                try {
                    awaitPlace(place, holds, all);
                    kill(place, all);
                } finally {
                    holds.forEach(Hold::release);
                }
                if (place.victim == Victim.SERVER) {
                    node.restart();
                    node.awaitReady();
                }
            }
            SoftAssertions programs = new SoftAssertions();
            for (Started each : all) {
                programs.assertThatCode(() -> look(place, each)).as("%s", each.framework).doesNotThrowAnyException();
            }
            programs.assertAll();
        }

        private String start(Framework framework, String key) throws IOException {
            return node.client().runs().create(RunRequest.of(Json.read("""
                    {"name": "%s", "start": true, "config": {"budget": {"hard_limit_usd": 1}, "escalation": {"enabled": false}},
                     "plan": {"tasks": [{"id": "t", "steps": [{"tool": "%s", "input": {"question": "What is the sky like in %s"},
                       "retry": {"max_attempts": 10, "base_delay_seconds": 0}}]}]}, "output": "${ .tasks.t.output }"}"""
                    .formatted(key, framework.tool(), key)))).id();
        }

        private void awaitPlace(KillPlace place, List<Hold> holds, List<Started> all) throws Exception {
            for (int i = 0; i < holds.size(); i++) {
                assertThat(holds.get(i).reachedWithin(PATIENCE)).as("%s: %s:%n%s", place, all.get(i), log()).isTrue();
            }
            if (place.reports()) {
                awaitEnds(all);
            }
        }

        private void awaitEnds(List<Started> all) {
            Awaitility.await().atMost(PATIENCE)
                    .until(() -> all.stream().allMatch(each -> Files.exists(pids.resolve(each.run))
                            && ProcessHandle.of(pid(each)).isEmpty()));
        }

        private void kill(KillPlace place, List<Started> all) throws Exception {
            // a killed program is executed again at once, with another process
            List<ProcessHandle> programs = all.stream().flatMap(each -> ProcessHandle.of(pid(each)).stream()).toList();
            switch (place.victim) {
                case PROGRAM -> {
                    programs.forEach(ProcessHandle::destroyForcibly);
                    programs.forEach(each -> each.onExit().join());
                }
                case WORKER -> {
                    worker.destroyForcibly().waitFor();
                    programs.forEach(each -> each.onExit().join());
                    worker = startWorker();
                }
                case SERVER -> node.doom().run();
            }
        }

        private long pid(Started program) {
            try {
                return Long.parseLong(Files.readString(pids.resolve(program.run)));
            } catch (IOException | NumberFormatException e) {
                throw new AssertionError(program + " has no process", e);
            }
        }

        private void look(@Nullable KillPlace place, Started program) throws Exception {
            Keelson client = node.client();
            Run ended = client.runs().awaitEnd(program.run, PATIENCE);
            String what = "%s, %s".formatted(place, program);
            assertThat(ended.state()).as("%s %s %s%n%s", what, ended.errorCode(), ended.errorMessage(), log())
                    .isEqualTo("completed");
            assertThat(ended.output().toString()).as(what).contains(ANSWER);
            List<LedgerEntry> charges = client.ledger().ofRun(program.run).stream()
                    .filter(entry -> entry.transactionType().equals("charge")).toList();
            BigDecimal answers = sum(charges, false);
            int recorded = (int) charges.stream().filter(entry -> !entry.estimated()).count();
            int sent = provider.exchanges(program.key).size();
            int lost = charges.size() - recorded;
            Tally tally = tallies.get(program.framework);
            if (place == null) {
                assertThat(recorded).as(what).isGreaterThanOrEqualTo(3).isEqualTo(sent);
                tally.requests = recorded;
                tally.cost = answers;
            } else {
                assertThat(recorded).as("%s: recorded", what).isEqualTo(tally.requests);
                assertThat(sent).as("%s: sent", what).isEqualTo(recorded + place.sentAgain);
                assertThat(answers).as("%s: charged", what).isEqualByComparingTo(tally.cost);
                assertThat(lost).as("%s: lost", what).isEqualTo(place.lost);
                tally.kills.merge(place.victim, 1, Integer::sum);
            }
            assertThat(ended.creditsCharged()).as(what).isEqualByComparingTo(answers.add(sum(charges, true)));
            assertThat(client.runs().events(program.run, 0, 500).items().stream()
                    .filter(event -> event.eventType().equals("model_answer_lost"))).as(what).hasSize(lost);
            tally.executions += client.runs().steps(program.run).getFirst().leaseEpoch();
            tally.sent += sent;
            tally.recorded += recorded;
            tally.lost += lost;
            tally.charged = tally.charged.add(answers);
            tally.worst = tally.worst.add(sum(charges, true));
            tally.replayed += (int) gate.exchanges(program.key).stream()
                    .filter(each -> each.head().toLowerCase(Locale.ROOT).contains("x-keelson-replayed"))
                    .count();
            System.out.printf("%s: %s: %d sent, %d recorded, %d lost%n", place, program.framework, sent, recorded,
                    lost);
        }

        private BigDecimal sum(List<LedgerEntry> charges, boolean estimated) {
            return charges.stream().filter(entry -> entry.estimated() == estimated).map(LedgerEntry::amount)
                    .reduce(BigDecimal.ZERO, BigDecimal::add);
        }

        /** The end of the worker's log. */
        private String log() throws IOException {
            String text = Files.readString(log);
            return text.substring(Math.max(0, text.length() - 3_000));
        }

        @Override
        public void close() throws Exception {
            worker.destroy();
            if (!worker.waitFor(30, TimeUnit.SECONDS)) {
                worker.destroyForcibly();
            }
        }
    }
}
