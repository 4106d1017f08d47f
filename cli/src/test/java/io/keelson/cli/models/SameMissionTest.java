package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.TokenUsage;
import io.keelson.api.run.Run;
import io.keelson.cli.InProcessCli;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** One goal with planner, agent, call and judge: the wire of its models changes neither its outcome nor its cost. */
class SameMissionTest {
    private static final List<String> WIRES = List.of("openai-responses", "openai-chat", "anthropic-messages");
    private static final String SCRIPT =
            """
            rules:
              - {name: better, when: {model: author, text: not accepted}, answer: {text: "a better text", usage: {input: 211, cache_read: 503, output: 13}}}
              - {name: call, when: {model: author, turn: 1}, answer: {text: "First", calls: [{tool: echo, input: {n: 1.50}}], usage: {input: 307, output: 19, reasoning: 7}}}
              - {name: first, when: {model: author}, answer: {text: "a text", usage: {input: 41, cache_read: 307, output: 11}}}
              - {name: pass, when: {model: judge, text: a better text}, answer: {json: {marks: [{criterion: 1, evidence: better, mark: 4}], feedback: "", confidence: 0.9, task_wrong: false}, usage: {input: 97, output: 29}}}
              - {name: refuse, when: {model: judge}, answer: {json: {marks: [{criterion: 1, evidence: text, mark: 2}], feedback: Better., confidence: 0.9, task_wrong: false}, usage: {input: 89, output: 31}}}
            """;

    private static final String PLAN = """
            - name: plan
              when: {model: planner, wire: %1$s}
              answer: {json: {reasoning: One text will do., tasks: [{id: write, title: Write, tools_needed: [echo], estimated_tokens: 10,
                  suggested_agent: {type: contractor, agent_name: writer, model: author-%1$s},
                  verify: [{kind: model, criteria: [{criterion: It is better, must_pass: true}]}]}]},
                usage: {input: 1201, cache_read: 37, output: 217, reasoning: 101}}
            """;

    /** What does not depend on the wire. */
    private record Outcome(String state, List<String> tasks, List<String> steps, TokenUsage usage, BigDecimal cost,
            List<String> rules, List<BigDecimal> charges) {}

    @Test
    void threeWiresGiveOneOutcomeAndOneBill(@TempDir Path folder) throws Exception {
        try (TestModel model = new TestModel(script())) {
            StringBuilder models = new StringBuilder("models:\n");
            for (String wire : WIRES) {
                for (String name : List.of("planner", "author", "judge")) {
                    models.append("""
                              %1$s-%2$s: {wire: %2$s, base_url: "%3$s%4$s", model: %1$s, family: %5$s, context_tokens: 90000,
                                  max_output_tokens: 900, prices: {input: 1.25, cache_read: 0.125, cache_write: 1.5, output: 10}}
                            """.formatted(name, wire, model.uri(""), wire.startsWith("openai") ? "/v1" : "",
                            name.equals("judge") ? "two" : "one"));
                }
            }
            Path file = Files.writeString(folder.resolve("models.yaml"), models);
            try (InProcessCli cli = new InProcessCli(folder, TestDatabase.createUrl(),
                    Map.of("KEELSON_MODELS", file.toString()))) {
                List<Outcome> outcomes = new ArrayList<>();
                for (String wire : WIRES) {
                    outcomes.add(outcome(cli.client(), model, wire));
                }
                assertThat(outcomes.getFirst().state()).isEqualTo("completed");
                assertThat(outcomes.getFirst().tasks()).contains("write completed 2 \"a better text\" 0.75");
                assertThat(outcomes.getFirst().rules()).containsExactly("plan", "call", "first", "refuse", "better",
                        "pass");
                assertThat(outcomes.get(1)).isEqualTo(outcomes.getFirst());
                assertThat(outcomes.get(2)).isEqualTo(outcomes.getFirst());
            }
        }
    }

    private static String script() {
        StringBuilder script = new StringBuilder(SCRIPT);
        WIRES.forEach(wire -> script.append(PLAN.formatted(wire).indent(2)));
        return script.toString();
    }

    private static Outcome outcome(Keelson keelson, TestModel model, String wire) throws Exception {
        int before = model.journal().size();
        Run run = keelson.runs()
                .create(RunRequest.of(Json
                        .read("""
                {"name": "same", "goal": "Write a text", "start": true, "config": {"retry": {"backoff_base_seconds": 0.01},
                 "autonomy": {"level": "full_auto"}, "model_preferences": {"planner": "planner-%1$s", "verifier": "judge-%1$s"}}}"""
                                .formatted(wire))));
        Run ended = keelson.runs().awaitEnd(run.id(), Duration.ofSeconds(60));
        List<JsonNode> journal = model.journal().stream().skip(before).toList();
        assertThat(journal).allSatisfy(line -> assertThat(line.get("wire").stringValue()).isEqualTo(wire));
        Set<Boolean> streamed = new HashSet<>();
        journal.forEach(line -> streamed.add(line.at("/body/stream").asBoolean(false)));
        assertThat(streamed).as("turns are streamed, plans and verdicts are not").containsExactlyInAnyOrder(true,
                false);
        List<BigDecimal> charges = keelson.ledger().ofRun(run.id()).stream()
                .filter(entry -> entry.transactionType().equals("charge")).map(LedgerEntry::cost)
                .map(BigDecimal::stripTrailingZeros).toList();
        assertThat(charges).as("the bill of each request, to the last place")
                .isEqualTo(journal.stream().map(line -> bill(line.get("billed"))).toList());
        return new Outcome(ended.state(),
                keelson.runs().tasks(run.id()).stream().map(task -> task.key() + " " + task.state() + " "
                        + task.attemptNumber() + " " + (task.key().equals("write") ? task.output() : "") + " "
                        + (task.verifierScore() == null ? "" : task.verifierScore().stripTrailingZeros())).toList(),
                keelson.runs().steps(run.id()).stream()
                        .map(step -> step.kind() + " " + step.tool() + " " + step.state())
                        .toList(),
                withoutReasoning(ended.usage()), ended.totalCost().stripTrailingZeros(),
                journal.stream().map(line -> line.get("rule").stringValue()).toList(), charges);
    }

    /** Messages do not report reasoning tokens, which are a part of the output. */
    private static TokenUsage withoutReasoning(TokenUsage usage) {
        return new TokenUsage(usage.input(), usage.cacheRead(), usage.cacheWrite(), usage.output(), 0);
    }

    private static BigDecimal bill(JsonNode billed) {
        return part(billed, "input", "1.25").add(part(billed, "cache_read", "0.125"))
                .add(part(billed, "cache_write", "1.5"))
                .add(part(billed, "output", "10")).stripTrailingZeros();
    }

    private static BigDecimal part(JsonNode billed, String name, String usdPerMillion) {
        return BigDecimal.valueOf(billed.path(name).asLong(0)).multiply(new BigDecimal(usdPerMillion)).movePointLeft(6);
    }
}
