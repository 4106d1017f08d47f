package io.keelson.cli.authoring;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.Cli;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class LifecyclesCommandTest {

    /** The deterministic transition matrix of the Orchestrator Controls, copied from there. */
    private static final Map<String, List<String>> GATE4 = Map.of(
            "received", List.of("received", "queued", "failed", "cancelled"),
            "queued", List.of("queued", "executing", "failed", "cancelled"),
            "executing", List.of("executing", "awaiting_tool", "awaiting_user_confirmation", "completed", "failed",
                    "cancelled"),
            "awaiting_tool", List.of("awaiting_tool", "executing", "failed", "cancelled"),
            "awaiting_user_confirmation", List.of("awaiting_user_confirmation", "executing", "failed", "cancelled"),
            "completed", List.of("completed"),
            "failed", List.of("failed"),
            "cancelled", List.of("cancelled"));

    private record Said(int code, String out, String err) {}

    @Test
    void gate4InJsonIsTheMatrixOfItsDocument() {
        JsonNode gate4 = JsonMapper.shared().readTree(run("gate4", "--format", "json").out());
        Map<String, List<String>> matrix = new TreeMap<>();
        gate4.get("transitions").forEach(each -> matrix.merge(each.get("from").stringValue(),
                List.of(each.get("to").stringValue()), (a, b) -> Stream.of(a, b).flatMap(List::stream).toList()));
        assertThat(matrix).isEqualTo(GATE4);
        assertThat(gate4.get("states").valueStream().map(each -> each.get("name").stringValue()))
                .containsExactlyInAnyOrderElementsOf(GATE4.keySet());
        assertThat(gate4.get("states").valueStream().filter(each -> each.get("terminal").booleanValue())
                .map(each -> each.get("name").stringValue())).containsExactly("completed", "failed", "cancelled");
        assertThat(run("gate4", "--json").out()).isEqualTo(run("gate4", "--format", "json").out());
    }

    @ParameterizedTest
    @CsvSource({"run,run,created", "agent,agent,pending", "task,task,pending", "step,step,pending",
            "handoff,run,CREATED", "steps,run,PENDING", "mission,run,pending", "lifecycle,run,requested"})
    void everyNameHasItsDocument(String name, String entity, String initial) {
        JsonNode document = JsonMapper.shared().readTree(run(name, "--format", "json").out());
        assertThat(document.get("name").stringValue()).isEqualTo(name);
        assertThat(document.get("entity").stringValue()).isEqualTo(entity);
        assertThat(document.get("initial").stringValue()).isEqualTo(initial);
    }

    @Test
    void allOfThemTogether() {
        JsonNode all = JsonMapper.shared().readTree(run("--json").out());
        assertThat(all.get("items").valueStream().map(each -> each.get("name").stringValue())).containsExactly("run",
                "agent", "task", "step", "handoff", "gate4", "steps", "mission", "lifecycle");
        assertThat(run().out()).contains("run, starts as created", "gate4 task, starts as received",
                "lifecycle run, starts as");
    }

    @Test
    void aTableShowsTheMachinesAndTheProjections() {
        String run = run("run").out();
        assertThat(run).contains("FROM", "EVENT", "run_queued").doesNotContain("gate4", "CANONICAL");
        List<String> gate4 = run("gate4").out().lines().map(line -> line.replaceAll(" +", " ")).toList();
        assertThat(gate4).contains("gate4 run, starts as received",
                "executing awaiting_tool retry allowed, with backoff",
                "gate4 task, starts as received", "canonical run in gate4", "CANONICAL GATE4 WHEN",
                "running awaiting_tool waits_for_timer", "retrying received a new item", "canonical task in gate4",
                "queued awaiting_tool later_attempt");
        assertThat(gate4).noneMatch(line -> line.contains("EVENT"));
    }

    @Test
    void oneMachineIsAPlainDiagram() {
        assertThat(run("lifecycle", "--format", "mermaid").out().lines()).containsExactly("stateDiagram-v2",
                "    [*] --> requested", "    requested --> queued: accepted", "    queued --> running: a slot is free",
                "    running --> running: a step is done", "    running --> completed: the last step is done",
                "    running --> failed: critical error, retries exhausted, or time is up", "    completed --> [*]",
                "    failed --> [*]");
    }

    @Test
    void severalMachinesAreOneDiagramWithNamesOfTheirOwn() {
        List<String> lines = run("steps", "--format", "mermaid").out().lines().toList();
        assertThat(lines).filteredOn(line -> line.startsWith("stateDiagram")).hasSize(1);
        assertThat(lines).contains("    state steps_run {", "    state steps_step {",
                "        steps_run_PENDING: PENDING", "        [*] --> steps_step_PENDING",
                "        steps_step_RUNNING --> steps_step_RUNNING: stale, claimed again",
                "        steps_run_FAILED --> [*]");
        assertThat(run("--format", "mermaid").out().lines().filter(line -> line.matches("    state \\w+ \\{")))
                .hasSize(12);
    }

    @Test
    void unknownNameIsRefusedWithTheKnownNames() {
        Said said = run("gate5");
        assertThat(said.code()).isEqualTo(2);
        assertThat(said.err()).contains("[LIFECYCLE_UNKNOWN]", "gate4", "handoff");
        assertThat(said.out()).isEmpty();
    }

    private static Said run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        String[] all = Stream.concat(Stream.of("lifecycles"), Stream.of(arguments)).toArray(String[]::new);
        int code =
                Cli.commandLine(Clock.systemUTC(), Map.of()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
                        .execute(all);
        return new Said(code, out.toString(), err.toString());
    }
}
