package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.run.Run;
import io.keelson.api.run.Task;
import io.keelson.api.run.TranscriptEntry;
import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.client.ForkRequest;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunQuery;
import io.keelson.client.RunRequest;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Recorded tasks that other models do again: forks with recorded calls, and {@code keelson eval}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EvaluationTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** The first text is refused once; {@code curious} reads a file that the original did not read. */
    private static final String SCRIPT = """
            rules:
              - {name: good, when: {model: small, text: not accepted}, answer: {text: "a good text", usage: {input: 100, output: 10}}}
              - name: write twice
                when: {model: small, turn: 1}
                answer: {calls: [{tool: artifact_write, input: {name: note.txt, content: one}},
                    {tool: artifact_write, input: {name: note.txt, content: one}}, {tool: json_transform, input: {expression: "1 +", input: null}}], usage: {input: 100, output: 10}}
              - {name: bad, when: {model: small}, answer: {text: "a bad text", usage: {input: 100, output: 10}}}
              - {name: unsure, when: {model: large, system: Make the judge unsure}, answer: {text: "perhaps it is"}}
              - name: write once
                when: {model: large, turn: 1}
                answer: {calls: [{tool: artifact_write, input: {content: one, name: note.txt}}], usage: {input: 50, output: 5}}
              - {name: better, when: {model: large}, answer: {text: "a good text at once", usage: {input: 50, output: 5}}}
              - name: other
                when: {model: curious}
                answer: {calls: [{tool: artifact_write, input: {name: other.txt, content: two}}], usage: {input: 1, output: 1}}
              - name: pass
                when: {model: judge, text: a good text}
                answer: {json: {marks: [{criterion: 1, evidence: good, mark: 4}], feedback: "", confidence: 1, task_wrong: false}, usage: {input: 10, output: 1}}
              - name: unsure
                when: {model: judge, text: perhaps it is}
                answer: {json: {marks: [{criterion: 1, evidence: perhaps, mark: 4}], feedback: "", confidence: 0.1, task_wrong: false}}
              - name: refuse
                when: {model: judge}
                answer: {json: {marks: [{criterion: 1, evidence: bad, mark: 1}], feedback: Write better., confidence: 1, task_wrong: false}, usage: {input: 10, output: 1}}
            """;

    private TestModel model;
    private InProcessCli cli;
    private Keelson keelson;
    private Run source;

    private Path folder;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        model = new TestModel(SCRIPT);
        StringBuilder models = new StringBuilder("models:\n");
        for (String name : List.of("small", "large", "curious", "judge")) {
            models.append("""
                      %1$s: {wire: openai-chat, base_url: "%2$s/v1", model: %1$s, family: %3$s, context_tokens: 9000,
                          max_output_tokens: 500, prices: {input: 1, output: 10}}
                    """.formatted(name, model.uri(""), name.equals("judge") ? "other" : "one"));
        }
        Path file = Files.writeString(folder.resolve("models.yaml"), models);
        cli = new InProcessCli(folder, TestDatabase.createUrl(), Map.of("KEELSON_MODELS", file.toString()));
        keelson = cli.client();
        source = keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "recorded", "start": true, "config": {"retry": {"backoff_base_seconds": 0.01}, "acceptance": "auto"},
                 "plan": {"tasks": [
                  {"id": "before", "steps": [{"tool": "echo", "input": {"text": "facts"}}]},
                  {"id": "text", "title": "Write", "depends_on": ["before"], "tools_needed": ["artifact.write", "json.transform"],
                   "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "small"},
                   "verify": [{"kind": "model", "model": "judge", "criteria": [{"criterion": "It is good", "must_pass": true}]}]},
                  {"id": "after", "depends_on": ["text"], "steps": [{"tool": "artifact.write",
                   "input": {"name": "after.txt", "content": "${ .tasks.text.output }"}}]}]},
                 "output": "${ .tasks.after.output }"}""")));
        assertThat(keelson.runs().awaitEnd(source.id(), LIMIT).state()).isEqualTo("completed");
    }

    @AfterAll
    void stop() throws Exception {
        cli.close();
        model.close();
    }

    private Task task(String run) {
        return keelson.runs().tasks(run).stream().filter(task -> task.key().equals("text")).findFirst().orElseThrow();
    }

    private BigDecimal charged(String run) {
        return keelson.ledger().ofRun(run).stream().filter(entry -> entry.transactionType().equals("charge"))
                .map(LedgerEntry::amount).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static List<String> shown(List<TranscriptEntry> entries) {
        return entries.stream().map(entry -> entry.taskAttempt() + "." + entry.turn() + " " + entry.tool() + " "
                + entry.state()).toList();
    }

    @Test
    void transcriptsHaveEachAttempt() {
        List<String> first =
                List.of("1.1 model.turn completed", "1.1 artifact.write completed", "1.1 artifact.write failed",
                        "1.1 json.transform failed", "1.2 model.turn completed", "1.2 model.judge completed");
        List<String> second = List.of("2.1 model.turn completed", "2.1 model.judge completed");
        String task = task(source.id()).id();
        assertThat(shown(keelson.tasks().transcript(task, 1))).isEqualTo(first);
        assertThat(shown(keelson.tasks().transcript(task))).isEqualTo(second);
        assertThat(shown(keelson.tasks().wholeTranscript(task))).startsWith(first.toArray(String[]::new))
                .endsWith(second.toArray(String[]::new)).hasSize(8);
        assertThat(cli.lines("transcript", source.id(), "text", "--attempt", "all")).contains("attempt 1 of 2",
                "attempt 2 of 2", "  a bad text", "  a good text");
        assertThat(cli.lines("transcript", source.id(), "text")).contains("attempt 2 of 2", "  a good text")
                .doesNotContain("  a bad text").endsWith("--attempt all shows the attempts before");
        assertThat(cli.run("transcript", source.id(), "text", "--attempt", "3").err()).contains("ATTEMPT_NOT_FOUND");
        assertThat(cli.run("transcript", source.id(), "text", "--attempt", "x").code()).isEqualTo(2);
    }

    @Test
    void recordedCallsAreAnsweredAndNotMade() {
        Run fork = keelson.runs().fork(source.id(),
                ForkRequest.from("text").model("large").withRecordedCalls().onlyTask());
        Run ended = keelson.runs().awaitEnd(fork.id(), LIMIT);
        assertThat(ended.state()).isEqualTo("completed");
        assertThat(ended.output().isNull()).isTrue();
        assertThat(keelson.runs().tasks(fork.id())).extracting(Task::key).containsExactlyInAnyOrder("before", "text");
        assertThat(keelson.runs().artifacts(fork.id())).isEmpty();
        List<TranscriptEntry> entries = keelson.tasks().transcript(task(fork.id()).id());
        assertThat(entries.get(1).state()).isEqualTo("completed");
        assertThat(entries.get(1).startedAt()).isNull();
        assertThat(entries.get(1).output())
                .isEqualTo(keelson.tasks().transcript(task(source.id()).id(), 1).get(1).output());
        assertThat(charged(fork.id())).isEqualByComparingTo("0.00022");
    }

    @Test
    void equalCallsHaveTheAnswersInTheirOrderAndFailuresToo() {
        Run fork = keelson.runs().fork(source.id(),
                ForkRequest.from("text").instructions("Again.").withRecordedCalls().onlyTask());
        assertThat(keelson.runs().awaitEnd(fork.id(), LIMIT).state()).isEqualTo("completed");
        List<TranscriptEntry> entries = keelson.tasks().transcript(task(fork.id()).id(), 1);
        List<TranscriptEntry> recorded = keelson.tasks().transcript(task(source.id()).id(), 1);
        assertThat(shown(entries.subList(1, 4))).containsExactly("1.1 artifact.write completed",
                "1.1 artifact.write skipped",
                "1.1 json.transform skipped");
        assertThat(entries.subList(1, 4)).extracting(TranscriptEntry::errorCode)
                .containsExactlyElementsOf(recorded.subList(1, 4).stream().map(TranscriptEntry::errorCode).toList());
        assertThat(keelson.runs().artifacts(fork.id())).isEmpty();
    }

    @Test
    void aCallWithoutARecordStopsTheFork() {
        Run fork = keelson.runs().fork(source.id(),
                ForkRequest.from("text").model("curious").withRecordedCalls().onlyTask());
        Run ended = keelson.runs().awaitEnd(fork.id(), LIMIT);
        assertThat(ended.errorCode()).isEqualTo("CALL_NOT_RECORDED");
        assertThat(task(fork.id()).attemptNumber()).isEqualTo(1);
        assertThat(keelson.runs().artifacts(fork.id())).isEmpty();
    }

    @Test
    void aForkOfTheTaskOnlyNeedsItsUpstreams() {
        Run failed = keelson.runs().create(RunRequest.of(Json
                .read("""
                {"name": "half", "start": true, "config": {"failure_mode": "continue"}, "plan": {"tasks": [
                  {"id": "before", "steps": [{"tool": "fail", "input": {"class": "permanent"}}]},
                  {"id": "text", "depends_on": ["before"], "trigger_rule": "all_done", "steps": [{"tool": "echo"}]}]}}""")));
        keelson.runs().awaitEnd(failed.id(), LIMIT);
        assertThat(catchThrowableOfType(KeelsonException.class,
                () -> keelson.runs().fork(failed.id(), ForkRequest.from("text").onlyTask())).code())
                .isEqualTo("INVALID_STATE_TRANSITION");
        assertThat(catchThrowableOfType(KeelsonException.class,
                () -> keelson.runs().fork(failed.id(), ForkRequest.from("text").withRecordedCalls())).code())
                .isEqualTo("UNKNOWN_REFERENCE");
    }

    private String evaluation(String name, String more) throws Exception {
        return Files.writeString(folder.resolve(name + ".yaml"), """
                name: %s
                cases:
                  - {run: %s, task: text}
                variants:
                  - {model: large}
                  - {model: curious}
                  - {name: brief, instructions: Be brief.}
                %s""".formatted(name, source.id(), more)).toString();
    }

    @Test
    void variantsAreComparedWithTheOriginalAndPaidForOnce() throws Exception {
        String file = evaluation("first", "repeat: 2\n");
        Result result = cli.run("eval", file, "--json");
        assertThat(result.code()).as(result.err()).isEqualTo(5);
        JsonNode document = Json.read(result.out());
        assertThat(document.get("variants").valueStream().map(each -> each.get("name").stringValue() + " "
                + each.get("passed") + "/" + each.get("trials") + " " + each.at("/score/mean") + " "
                + each.get("turns")))
                .containsExactly("original 1/1 0.75 3", "large 2/2 0.75 4", "curious 0/2 null 2", "brief 2/2 0.75 6");
        for (JsonNode trial : document.get("trials")) {
            if (trial.get("number").intValue() > 0) {
                assertThat(charged(trial.get("run_id").stringValue()))
                        .isEqualByComparingTo(trial.get("cost").decimalValue());
            }
        }
        int requests = model.journal().size();
        int runs = keelson.runs().list(RunQuery.all()).items().size();
        assertThat(Json.read(cli.run("eval", file, "--json").out())).isEqualTo(document);
        List<String> text = cli.run("eval", file).out().lines().toList();
        assertThat(text.getFirst()).matches("VARIANT +PASSED +SCORE +SPREAD +CREDITS +TURNS +CALLS");
        assertThat(text.get(2)).matches("large +2 of 2 +0.75 +0.75 to 0.75 +0.00022 +2 +1");
        assertThat(text.getLast()).startsWith("stopped  curious, text, run ").contains("CALL_NOT_RECORDED");
        assertThat(model.journal()).hasSize(requests);
        assertThat(keelson.runs().list(RunQuery.all()).items()).hasSize(runs);
    }

    @Test
    void oneJudgeMarksTheOriginalAndTheVariants() throws Exception {
        String file = Files.writeString(folder.resolve("judged.yaml"), """
                name: judged
                judge: {model: judge, criteria: [{criterion: It is good, must_pass: true}]}
                cases: [{name: a, run: %1$s, task: text}, {name: b, run: %1$s, task: text, turn: 1}]
                variants: [{model: large}, {name: none, model: unknown}]
                """.formatted(source.id())).toString();
        Result result = cli.run("eval", file, "--json");
        JsonNode document = Json.read(result.out());
        assertThat(document.get("trials").valueStream().map(each -> each.get("case").stringValue() + " "
                + each.get("variant").stringValue() + " " + each.get("outcome").stringValue() + " "
                + each.get("score")))
                .containsExactly("a original passed 0.75", "b original passed 0.75", "a large passed 0.75",
                        "a none refused null", "b large passed 0.75", "b none refused null");
        assertThat(document.get("trials").get(3).get("error_code").stringValue()).isEqualTo("NO_PRICE");
    }

    @Test
    void aTrialThatOnlyAPersonCanDecideIsUndecided() throws Exception {
        String file = Files.writeString(folder.resolve("unsure.yaml"), """
                name: unsure
                cases: [{run: %s, task: text}]
                variants: [{name: unsure, model: large, instructions: Make the judge unsure.}]
                """.formatted(source.id())).toString();
        assertThat(Json.read(cli.run("eval", file, "--json").out()).at("/trials/1/outcome").stringValue())
                .isEqualTo("undecided");
        String run = Json.read(cli.run("eval", file, "--json").out()).at("/trials/1/run_id").stringValue();
        keelson.tasks().approve(task(run).id(), null, "it is");
        assertThat(cli.run("eval", file).code()).isZero();
    }

    @Test
    void problemsOfAFileHaveTheirPlaces() throws Exception {
        String file = evaluation("wrong", "calls: maybe\n");
        Result result = cli.run("eval", file);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("INVALID_EVALUATION").contains("/calls");
        String names = Files.writeString(folder.resolve("names.yaml"), """
                name: names
                cases: [{run: latest, task: a}, {run: latest, task: a}]
                variants: [{instructions: x}, {name: original, model: large}]
                """).toString();
        assertThat(cli.run("eval", names).err()).contains("/cases/1/name").contains("/variants/0/name")
                .contains("/variants/1/name");
        assertThat(cli.run("eval", evaluation("unknown", "").replace("unknown", "none")).err())
                .contains("FILE_NOT_FOUND");
    }
}
