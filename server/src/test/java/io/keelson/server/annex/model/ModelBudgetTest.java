package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.keelson.api.inbox.Escalation;
import io.keelson.api.money.LedgerEntry;
import io.keelson.api.run.Run;
import io.keelson.client.EscalationQuery;
import io.keelson.client.Keelson;
import io.keelson.client.Resolution;
import io.keelson.client.RunRequest;
import io.keelson.client.Usage;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Budgets of runs whose models the server calls: what a request may cost is held before it is sent. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ModelBudgetTest {
    private static final DatabaseUrl URL = TestDatabase.createUrl();
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** A turn costs 0.0084, and 0.0833 at worst. */
    private static final String SCRIPT = """
            rules:
              - {name: right key, when: {text: Keyed, header: {authorization: "Bearer sk-right-4711"}}, answer: {text: done}}
              - {name: wrong key, when: {text: Keyed}, answer: {status: 401, error: {code: invalid_api_key, message: "Incorrect key sk-canary-4711"}}}
              - {name: quota, when: {text: Quota, first: 1}, answer: {status: 429, error: {code: insufficient_quota, message: "You exceeded your quota"}}}
              - {name: verdict, when: {model: j}, answer: {json: {marks: [{criterion: 1, evidence: "", mark: 5}], feedback: "",
                  confidence: 0.9, task_wrong: false}, usage: {input: 400, output: 200}}}
              - {name: call, when: {turn: 1, text: Twice}, answer: {calls: [{tool: echo, input: {n: 1}}], usage: {input: 400, output: 200}}}
              - {name: turn, answer: {text: done, usage: {input: 400, output: 200}}}
            """;

    private TestModel model;
    private Path key;
    private Server server;
    private Keelson keelson;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel(SCRIPT);
        key = Files.writeString(folder.resolve("key"), "sk-canary-4711");
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  m: {wire: openai-chat, base_url: "%1$s/v1", model: m, family: f, context_tokens: 9000, max_output_tokens: 2000,
                      prices: {input: 1, output: 40}}
                  k: {wire: openai-chat, base_url: "%1$s/v1", model: k, family: g, context_tokens: 9000, max_output_tokens: 2000,
                      api_key: {file: key}, prices: {input: 1, output: 40}}
                  j: {wire: openai-chat, base_url: "%1$s/v1", model: j, family: g, context_tokens: 9000, max_output_tokens: 2000,
                      prices: {input: 1, output: 40}}
                """.formatted(model.uri("")));
        server = ModelServer.start(folder, URL);
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    @AfterAll
    void stop() throws Exception {
        server.close();
        model.close();
    }

    private Run run(String limit, String tasks) {
        return keelson.runs()
                .create(RunRequest.of(Json
                        .read("""
                {"name": "budget", "start": true, "config": {"budget": {"hard_limit_usd": %s}}, "plan": {"tasks": [%s]}}"""
                                .formatted(limit, tasks))));
    }

    private Run awaitState(Run run, String state) {
        return Awaitility.await().atMost(LIMIT).until(() -> keelson.runs().get(run.id()),
                now -> now.state().equals(state) || now.ended());
    }

    private static BigDecimal charges(List<LedgerEntry> rows) {
        return rows.stream().filter(row -> row.transactionType().equals("charge")).map(LedgerEntry::amount)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    /** Up to the limit and not above it, then more. */
    private void holds(Run run, String limit) throws Exception {
        Run stopped = awaitState(run, "budget_exceeded");
        assertThat(stopped.state()).isEqualTo("budget_exceeded");
        BigDecimal charged = charges(keelson.ledger().ofRun(run.id()));
        assertThat(charged).isLessThanOrEqualTo(new BigDecimal(limit)).isGreaterThan(new BigDecimal("0.07"));
        assertThat(stopped.creditsUncollected()).isEqualByComparingTo("0");
        keelson.runs().budget(run.id(), BigDecimal.ONE, null);
        Run ended = keelson.runs().awaitEnd(run.id(), LIMIT);
        assertThat(ended.state()).isEqualTo("completed");
        assertThat(ended.creditsUncollected()).isEqualByComparingTo("0");
        assertThat(charges(keelson.ledger().ofRun(run.id()))).isEqualByComparingTo(ended.totalCost());
    }

    @Test
    void twentyAgentsAtOnceStayWithinTheLimit() throws Exception {
        holds(run("0.10", IntStream.range(0, 20).mapToObj("""
                {"id": "t%1$d", "title": "Twice %1$d", "tools_needed": ["echo"],
                 "suggested_agent": {"type": "contractor", "agent_name": "c%1$d", "model": "m"}}"""::formatted)
                .collect(Collectors.joining(","))), "0.10");
    }

    @Test
    void answersAndJudgesStayWithinTheLimit() throws Exception {
        Run run = run("0.10", IntStream.range(0, 10).mapToObj("""
                {"id": "t%1$d", "title": "T", "steps": [{"tool": "model.generate", "input": {"model": "m", "prompt": "Do %1$d"}}],
                 "verify": [{"kind": "model", "model": "j", "criteria": [{"criterion": "It is done."}]}]}"""::formatted)
                .collect(Collectors.joining(",")));
        holds(run, "0.10");
        assertThat(keelson.credits().usage(Usage.By.PURPOSE, run.id(), null, null).items())
                .extracting(Usage.Line::purpose, line -> line.credits().stripTrailingZeros().toPlainString())
                .containsExactlyInAnyOrder(tuple("work", "0.084"), tuple("verification", "0.084"));
    }

    @Test
    void childRunsStayWithinTheLimit() throws Exception {
        String child = """
                {"id": "c%d", "title": "C", "steps": [{"tool": "run.start", "input": {"name": "child %1$d", "budget_usd": 0.05,
                 "plan": {"tasks": [%s]}}}]}""";
        String tasks = IntStream.range(0, 8)
                .mapToObj(
                        """
                {"id": "t%1$d", "title": "Once", "suggested_agent": {"type": "contractor", "agent_name": "c%1$d", "model": "m"}}"""::formatted)
                .collect(Collectors.joining(","));
        Run parent = run("0.10", child.formatted(1, tasks) + "," + child.formatted(2, tasks));
        List<Run> children = Awaitility.await().atMost(LIMIT).until(() -> keelson.runs().children(parent.id()),
                all -> all.size() == 2 && all.stream().allMatch(each -> each.state().equals("budget_exceeded")));
        for (Run each : children) {
            assertThat(charges(keelson.ledger().ofRun(each.id()))).isLessThanOrEqualTo(new BigDecimal("0.05"))
                    .isGreaterThan(new BigDecimal("0.02"));
            assertThat(keelson.runs().get(each.id()).creditsUncollected()).isEqualByComparingTo("0");
        }
    }

    /** Agents, answers with judges and child runs in random numbers; cancelled while requests are under way. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void allKindsOfWorkTogetherStayWithinTheLimitAndLeaveNothingHeld(long seed) {
        Random random = new Random(seed);
        String agent = """
                {"id": "t%1$d", "title": "%2$s", "tools_needed": ["echo"],
                 "suggested_agent": {"type": "contractor", "agent_name": "c%1$d", "model": "m"}}""";
        Run run = run("0.10", IntStream.range(0, 20).mapToObj(i -> switch (random.nextInt(3)) {
            case 0 -> agent.formatted(i, "Twice");
            case 1 -> """
                    {"id": "t%1$d", "title": "T", "steps": [{"tool": "model.generate", "input": {"model": "m", "prompt": "Do %1$d"}}],
                     "verify": [{"kind": "model", "model": "j", "criteria": [{"criterion": "It is done."}]}]}"""
                    .formatted(i);
            default -> """
                    {"id": "t%1$d", "title": "C", "steps": [{"tool": "run.start", "input": {"name": "child", "budget_usd": 0.0%2$d,
                     "plan": {"tasks": [%3$s]}}}]}""".formatted(i, 3 + random.nextInt(3), agent.formatted(i, "Once"));
        }).collect(Collectors.joining(",")));
        Awaitility.await().atMost(LIMIT).until(() -> {
            BigDecimal charged = all(run);
            assertThat(charged).isLessThanOrEqualTo(new BigDecimal("0.10"));
            return charged.compareTo(new BigDecimal("0.015")) > 0;
        });
        keelson.runs().cancel(run.id(), null);
        Awaitility.await().atMost(LIMIT).until(() -> keelson.runs().children(run.id()).stream().allMatch(Run::ended));
        assertThat(all(run)).isLessThanOrEqualTo(new BigDecimal("0.10"));
        for (Run each : Stream.concat(Stream.of(keelson.runs().get(run.id())),
                keelson.runs().children(run.id()).stream()).toList()) {
            assertThat(each.creditsUncollected()).isEqualByComparingTo("0");
            assertThat(each.creditsCharged().add(each.creditsRefunded())).isEqualByComparingTo(each.creditsReserved());
        }
    }

    /** The charges of the run and its children. */
    private BigDecimal all(Run run) {
        return Stream.concat(Stream.of(run), keelson.runs().children(run.id()).stream())
                .map(each -> charges(keelson.ledger().ofRun(each.id()))).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private long asked(String text) throws Exception {
        return model.journal().stream().filter(each -> each.path("body").toString().contains(text)).count();
    }

    private Run agent(String title, String name) {
        return run("1",
                """
                {"id": "t", "title": "%s", "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "%s"}}"""
                        .formatted(title, name));
    }

    @Test
    void aUsedUpQuotaWaitsForAPersonAndThenSendsOneRequest() throws Exception {
        Run run = agent("Quota", "m");
        assertThat(awaitState(run, "escalated").state()).isEqualTo("escalated");
        assertThat(asked("Quota")).isEqualTo(1);
        Escalation ticket = keelson.escalations().list(EscalationQuery.all().run(run.id())).items().getFirst();
        keelson.escalations().resolve(ticket.id(), Resolution.RESUME, null);
        assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state()).isEqualTo("completed");
        assertThat(asked("Quota")).isEqualTo(2);
    }

    @Test
    void aReplacedKeyIsUsedAfterAResumeAndTheOldOneIsNowhere() throws Exception {
        Run run = agent("Keyed", "k");
        assertThat(awaitState(run, "escalated").state()).isEqualTo("escalated");
        assertThat(asked("Keyed")).isEqualTo(1);
        Files.writeString(key, "sk-right-4711");
        keelson.runs().resume(run.id());
        assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state()).isEqualTo("completed");
        assertThat(asked("Keyed")).isEqualTo(2);
        assertThat(keelson.runs().events(run.id(), 0, 500).items().toString()).contains("MODEL_KEY_REFUSED")
                .doesNotContain("4711");
        assertThat(keelson.escalations().list(EscalationQuery.all().run(run.id())).items().toString())
                .doesNotContain("4711");
    }
}
