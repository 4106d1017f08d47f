package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A run at its hard limit: a person lets a cheaper model go on, or has what runs complete. */
class ModelLimitTest {
    /** A turn of the dear model costs 0.0084, and 0.0122 at least before it is sent. */
    private static final String SCRIPT = """
            rules:
              - {name: call, when: {turn: 1, text: Twice}, answer: {calls: [{tool: echo, input: {n: 1}}], usage: {input: 400, output: 200}}}
              - {name: turn, answer: {text: done, usage: {input: 400, output: 200}}}
            """;
    private static final String AGENT =
            """
            {id: %s, title: %s, tools_needed: [echo], suggested_agent: {type: contractor, agent_name: %1$s, model: dear}}""";

    @TempDir
    static Path folder;

    private static TestModel model;
    private static InProcessCli cli;

    @BeforeAll
    static void start() throws Exception {
        model = new TestModel(SCRIPT);
        StringBuilder models = new StringBuilder("models:\n");
        Map.of("dear", 40, "same", 40, "small", 1, "closed", 1).forEach((name, output) -> models.append("""
              %s: {wire: openai-chat, base_url: "%s", model: %1$s, family: f, context_tokens: 9000, max_output_tokens: 2000,
                prices: {input: 1, output: %s}}
            """.formatted(name, model.uri("/v1"), output)));
        Path file = Files.writeString(folder.resolve("models.yaml"), models);
        cli = new InProcessCli(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", file.toString()));
    }

    @AfterAll
    static void stop() throws Exception {
        cli.close();
        model.close();
    }

    private static String stopped(String name, String tasks) throws Exception {
        Path file = Files.writeString(folder.resolve(name + ".yaml"), """
                name: %s
                config: {budget: {hard_limit_usd: 0.02}, max_agents: 1}
                plan: {tasks: [%s]}
                """.formatted(name, tasks));
        Result created = cli.run("run", file.toString(), "--detach", "--json");
        assertThat(created.code()).as(created.out() + created.err()).isZero();
        String run = Json.read(created.out()).path("id").stringValue();
        awaitState(run, "budget_exceeded");
        return run;
    }

    private static JsonNode show(String run) {
        JsonNode shown = Json.read(cli.run("show", run, "--json").out());
        return shown.has("run") ? shown.get("run") : shown;
    }

    /** The id of the question that waits. */
    private static String question(String run) {
        return Json.read(cli.run("inbox", "--run", run, "--json").out()).at("/items/0/id").asString();
    }

    private static void awaitState(String run, String state) {
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(show(run).path("state").asString()).isEqualTo(state));
    }

    private static List<JsonNode> events(String run, String type) {
        return cli.lines("events", run, "--json").stream().map(Json::read)
                .filter(each -> each.path("event_type").asString("").equals(type)).toList();
    }

    private static List<String> models(String run) {
        return Json.read(cli.run("ledger", run, "--json").out()).path("items").valueStream()
                .filter(row -> row.path("transaction_type").asString().equals("charge"))
                .map(row -> row.path("model").asString()).sorted().toList();
    }

    @Test
    void aCheaperModelTakesTheFurtherTurns() throws Exception {
        String run = stopped("downgraded", AGENT.formatted("t", "Twice"));
        String question = question(run);
        assertThat(cli.run("inbox", "--json").out()).contains("another model may take all further turns");
        Result unknown = cli.run("approve", question, "--downgrade", "no-such-model");
        assertThat(unknown.err()).contains("UNKNOWN_REFERENCE", "no-such-model");
        assertThat(cli.run("approve", question, "--downgrade", "same").err()).contains("MODEL_NOT_CHEAPER",
                "'dear'");

        assertThat(cli.run("show", run).out()).containsPattern("model.turn +waiting .* waits for the budget");
        Result explained = cli.run("explain", run);
        assertThat(explained.out()).contains("of the 0.02 that its limit allows, and the next step may cost 0.0");
        assertThat(explained.out() + explained.err())
                .containsPattern("keelson budget " + run + " --hard-limit 0\\.0[0-9]+ ");
        Result answered = cli.run("approve", question, "--downgrade", "small", "--reason", "cheaper");
        assertThat(answered.code()).as(answered.err()).isZero();
        Result late = cli.run("approve", question, "--hard-limit", "5");
        assertThat(late.code()).isNotZero();
        assertThat(late.err()).contains("INVALID_STATE_TRANSITION",
                "local gave all further turns to the model small at ", ": cheaper");
        awaitState(run, "completed");
        assertThat(models(run)).containsExactly("dear", "small");
        assertThat(events(run, "run_downgraded").getFirst().at("/payload/model").asString()).isEqualTo("small");
        assertThat(events(run, "model_fallback")).isEmpty();
        assertThat(show(run).path("credits_uncollected").decimalValue()).isEqualByComparingTo("0");
    }

    @Test
    void aRunThatFinishesKeepsWhatWasDone() throws Exception {
        String run = stopped("finished", AGENT.formatted("first", "Once") + ", " + AGENT.formatted("second", "Once"));
        String question = question(run);
        Result answered = cli.run("approve", question, "--finish-current");
        assertThat(answered.code()).as(answered.err()).isZero();
        awaitState(run, "failed");
        assertThat(show(run).path("error_code").asString()).isEqualTo("BUDGET_EXCEEDED");
        assertThat(models(run)).containsExactly("dear");
        JsonNode tasks = Json.read(cli.run("show", run, "--json").out()).path("tasks");
        assertThat(tasks.valueStream().map(task -> task.path("key").asString() + " " + task.path("state").asString()
                + " " + task.path("output").asString("-"))).as(tasks.toPrettyString())
                .containsExactly("first completed done", "second cancelled -");
        assertThat(events(run, "run_finishing")).hasSize(1);
        assertThat(cli.run("approve", question, "--finish-current").code()).as("the same again").isZero();
        assertThat(cli.run("reject", question).err()).contains("local had the run end with what ran then");
        assertThat(cli.run("approve", question).err()).contains("local had the run end with what ran then");
    }
}
