package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.TestCredits;
import io.keelson.server.engine.tool.SlotKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Chains of steps on an engine: the database at each moment, and steps that are executed and not reported. */
@Breadth.Spread
@Timeout(120)
class ChainExecutionTest extends GatedEngines {
    private static final Duration HOUR = Duration.ofHours(1);
    /** Nothing is reported before the end of the chain. */
    private static final Engine.Chains AT_THE_END = new Engine.Chains(true, HOUR, HOUR);
    /** Each result is reported as soon as possible. */
    private static final Engine.Chains AT_ONCE = new Engine.Chains(true, Duration.ZERO, HOUR);

    @Override
    Nodes open(Path folder) throws Exception {
        return new Nodes(folder, gate);
    }

    /** A task of so many steps {@code s1, s2, …}, each of which is a gate. */
    private static String gates(int count) {
        return mission(IntStream.rangeClosed(1, count).mapToObj(i -> "{name: s" + i + ", tool: test.gate}")
                .collect(Collectors.joining(", ")));
    }

    private static String mission(String steps) {
        return "name: chain\ngoal: g\nplan: {tasks: [{id: a, steps: [" + steps + "]}]}\n";
    }

    private String steps(UUID run) {
        return nodes
                .text("select string_agg(state, ' ' order by position) from orchestration_steps where run_id = '" + run
                        + "'");
    }

    /** The number of commits that record ends of steps. */
    private long reports(UUID run) {
        return nodes.count(
                "select count(*) from run_event_packs where (body::text like '%step_completed%' or body::text like "
                        + "'%step_failed%') and run_id = '" + run + "'");
    }

    private long results(UUID run) {
        return nodes.count("select count(*) from work_results where run_id = '" + run + "'");
    }

    private void awaitSteps(UUID run, String states) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(10))
                .untilAsserted(() -> assertThat(steps(run)).isEqualTo(states));
    }

    /** Lets the run get to its gate of this number, from 1. */
    private void reach(int number) throws Exception {
        for (int i = 1; i <= number; i++) {
            if (i > 1) {
                gate.open.release();
            }
            gate.awaitEntered(1);
        }
    }

    private static String repeated(String state, int times) {
        return IntStream.range(0, times).mapToObj(i -> state).collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @CsvSource({"true, 1", "false, 10"})
    void tenStepsHaveOneReport(boolean chains, long reports) throws Exception {
        UUID run = nodes.submit(nodes.node(chains ? AT_THE_END : Engine.Chains.OFF),
                mission(IntStream.rangeClosed(1, 10).mapToObj(i -> "{name: s" + i + ", tool: noop}")
                        .collect(Collectors.joining(", "))));
        nodes.awaitState(run, "completed");
        assertThat(reports(run)).isEqualTo(reports);
        assertThat(results(run)).isEqualTo(10);
    }

    @Test
    void tasksCanForbidChains() throws Exception {
        UUID run = nodes.submit(nodes.node(AT_THE_END), """
                name: durable
                plan: {tasks: [{id: a, chain: false, steps: [{tool: noop}, {tool: noop}, {tool: noop}]}]}
                """);
        nodes.awaitState(run, "completed");
        assertThat(reports(run)).isEqualTo(3);
    }

    @Test
    void outputsOfUnreportedStepsAreInScope() throws Exception {
        UUID run = nodes.submit(nodes.node(AT_THE_END), """
                name: linked
                inputs: {who: {type: string, default: you}}
                plan:
                  tasks:
                    - id: a
                      steps:
                        - {name: one, tool: noop, input: {output: {bb: 1.50, a: 1.0e2, z: [1, {y: 2, x: 3}]}}}
                        - {name: two, tool: json.transform, input: {expression: "tojson", input: "${ .steps.one.output }"}}
                        - {name: three, tool: echo, input: {all: "${ .steps }", who: "${ .inputs.who }"}}
                """);
        nodes.awaitState(run, "completed");
        assertThat(reports(run)).isEqualTo(1);
        assertThat(output(run, "two"))
                .isEqualTo("\"{\\\"a\\\":100,\\\"z\\\":[1,{\\\"x\\\":3,\\\"y\\\":2}],\\\"bb\\\":1.5}\"");
        assertThat(output(run, "three")).contains("\"who\": \"you\"", "\"one\"", "\"completed\"");
    }

    private String output(UUID run, String step) {
        return nodes
                .text("select output from orchestration_steps where run_id = '" + run + "' and name = '" + step + "'");
    }

    /** The output of the task so far is read from the database. */
    @Test
    void otherValuesOfTheTaskAreReadAfterAReport() throws Exception {
        UUID run = nodes.submit(nodes.node(AT_THE_END), mission("{name: one, tool: noop, input: {output: first}}, "
                + "{name: two, tool: echo, input: {said: \"${ .task.output }\"}}, {name: three, tool: noop}"));
        nodes.awaitState(run, "completed");
        assertThat(output(run, "two")).isEqualTo("{\"said\": \"first\"}");
        assertThat(reports(run)).isEqualTo(2);
    }

    /** Slow steps are seen one by one, though the chain is not over. */
    @Test
    void progressOfSlowStepsIsVisible() throws Exception {
        UUID run = nodes.submit(nodes.node(AT_ONCE), gates(4));
        for (int done = 0; done < 4; done++) {
            gate.awaitEntered(1);
            awaitSteps(run, (repeated("completed", done) + " running " + repeated("pending", 3 - done)).strip());
            gate.open.release();
        }
        nodes.awaitState(run, "completed");
        assertThat(results(run)).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void pausedRunKeepsOnlyTheStepThatWasRecordedAsRunning(int at) throws Exception {
        Engine engine = nodes.node(AT_THE_END);
        UUID run = nodes.submit(engine, gates(5));
        reach(at);
        assertThat(engine.submit(new Command.Pause(run, null, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        gate.open.release(1_000);
        awaitSteps(run, "completed " + repeated("pending", 4));
        assertThat(nodes.state(run)).isEqualTo("paused");
        engine.submit(new Command.Resume(run, Nodes.WHO)).join();
        nodes.awaitState(run, "completed");
        assertThat(results(run)).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void pauseBetweenReportsDropsTheStepsAfterTheRecordedOne(int at) throws Exception {
        Engine engine = nodes.node(AT_ONCE);
        UUID run = nodes.submit(engine, gates(5));
        reach(at);
        awaitSteps(run, (repeated("completed", at - 1) + " running " + repeated("pending", 5 - at)).strip());
        engine.submit(new Command.Pause(run, null, Nodes.WHO)).join();
        gate.open.release(1_000);
        awaitSteps(run, (repeated("completed", at) + " " + repeated("pending", 5 - at)).strip());
        engine.submit(new Command.Resume(run, Nodes.WHO)).join();
        nodes.awaitState(run, "completed");
        assertThat(results(run)).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void cancelStopsTheStepAtWork(int at) throws Exception {
        Engine engine = nodes.node(AT_THE_END);
        UUID run = nodes.submit(engine, gates(5));
        reach(at);
        engine.submit(new Command.Cancel(run, null, Nodes.WHO)).join();
        assertThat(gate.interrupted.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(steps(run)).isEqualTo(repeated("cancelled", 5));
        Awaitility.await().until(() -> engine.busy(SlotKind.COMPUTING) == 0);
        assertThat(results(run)).isZero();
    }

    /** As after a crash: the node's results are lost, and another one executes the steps again. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void unreportedStepsOfALostLeaseAreExecutedAgain(int at) throws Exception {
        Engine engine = nodes.node(AT_THE_END);
        UUID run = nodes.submit(engine, gates(5));
        reach(at);
        String first = nodes.text("select id from orchestration_steps where run_id = '" + run + "' and position = 1");
        engine.submit(
                new Command.LeaseExpired(run, UUID.fromString(first), 1, Duration.ofSeconds(30), Actor.RECONCILER))
                .join();
        assertThat(gate.interrupted.await(20, TimeUnit.SECONDS)).isTrue();
        gate.open.release(1_000);
        nodes.awaitState(run, "completed");
        assertThat(results(run)).isEqualTo(5);
        assertThat(nodes.count("select max(lease_epoch) from orchestration_steps where run_id = '" + run + "'"))
                .isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void nodeThatStopsReportsWhatIsDone(int at) throws Exception {
        Engine engine = nodes.node(AT_THE_END);
        UUID run = nodes.submit(engine, gates(5));
        reach(at);
        engine.close();
        assertThat(nodes.count("select count(*) from orchestration_steps where state = 'completed' and run_id = '" + run
                + "'")).isEqualTo(at - 1);
        gate.open.release(1_000);
        nodes.node(AT_THE_END);
        nodes.awaitState(run, "completed");
        assertThat(results(run)).isEqualTo(5);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
            "{name: s5, tool: fail, input: {class: permanent}} ; FAILED_ON_PURPOSE",
            "{name: s5, tool: test.gate, timeout_seconds: 1, retry: {max_attempts: 1}} ; STEP_TIMEOUT",
            "{name: s5, tool: json.transform, input: {expression: \"[range(600000)]\"}} ; OUTPUT_TOO_LARGE",
            "{name: s5, tool: json.transform, input: {expression: \"error\", input: \"${ .steps.s4.output | error }\"}} ; EXPRESSION_FAILED"})
    void failureOfTheFifthStepEndsTheChain(String fifth, String code) throws Exception {
        UUID run = nodes.submit(nodes.node(AT_THE_END), mission(IntStream.rangeClosed(1, 4)
                .mapToObj(i -> "{name: s" + i + ", tool: noop}").collect(Collectors.joining(", ")) + ", " + fifth
                + ", {name: s6, tool: noop}"));
        nodes.awaitState(run, "failed");
        assertThat(steps(run)).isEqualTo("completed completed completed completed failed cancelled");
        assertThat(nodes
                .text("select error_code from orchestration_steps where state = 'failed' and run_id = '" + run + "'"))
                .isEqualTo(code);
        assertThat(reports(run)).isEqualTo(1);
    }

    /** The failed step is executed again after its backoff, and the chain continues behind it. */
    @Test
    void retriedStepBeginsAChain() throws Exception {
        UUID run = nodes.submit(nodes.node(AT_THE_END), mission("{name: s1, tool: noop}, "
                + "{name: s2, tool: fail, input: {times: 1, output: {a: 1}}, retry: {max_attempts: 2}}, "
                + "{name: s3, tool: echo, input: {b: \"${ .steps.s2.output.a }\"}}, {name: s4, tool: noop}"));
        nodes.awaitState(run, "completed");
        assertThat(output(run, "s3")).isEqualTo("{\"b\": 1}");
        assertThat(results(run)).isEqualTo(5);
    }

    @Test
    void laneGivesItsSlotBackAfterSixtyFourSteps() throws Exception {
        Engine engine = nodes.node(AT_THE_END, 1);
        UUID large = nodes.submit(engine, mission("{name: s1, tool: test.gate}, " + IntStream.rangeClosed(2, 300)
                .mapToObj(i -> "{name: s" + i + ", tool: noop}").collect(Collectors.joining(", "))));
        gate.awaitEntered(1);
        UUID small = submitElsewhere(engine, mission("{name: s1, tool: noop}"));
        gate.open.release();
        nodes.awaitState(small, "completed");
        nodes.awaitState(large, "completed");
        assertThat(nodes.text("select (select completed_at from orchestration_runs where id = '" + small
                + "') < (select completed_at from orchestration_runs where id = '" + large + "')")).isEqualTo("t");
        assertThat(results(large)).isEqualTo(300);
    }

    private UUID submitElsewhere(Engine engine, String yaml) {
        UUID workspace = UUID.randomUUID();
        nodes.text("insert into workspaces (id, name) values ('" + workspace + "', 'other') returning name");
        TestCredits.grant(nodes.database, workspace);
        NewRun run = nodes.run(yaml, workspace);
        assertThat(engine.submit(new Command.Create(run, true, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        return run.id();
    }

    @Test
    void costsOfAChainAreChargedByStep() throws Exception {
        UUID run = nodes.submit(nodes.node(AT_THE_END), mission(IntStream.rangeClosed(1, 4)
                .mapToObj(i -> "{name: s" + i + ", tool: noop, input: {tokens: 3, cost: 0.5}}")
                .collect(Collectors.joining(", "))));
        nodes.awaitState(run, "completed");
        assertThat(nodes.text("select trim_scale(sum(cost)) from orchestration_steps where run_id = '" + run + "'"))
                .isEqualTo("2");
        assertThat(reports(run)).isEqualTo(1);
    }
}
