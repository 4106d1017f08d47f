package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.TurnAnswer;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.LongResults;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.engine.store.read.TranscriptTooLongException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** An agent's transcript only grows, and never parts a call from its result. */
@Breadth.Spread
class TranscriptTest {
    private static final UUID RUN = new UUID(3, 3);
    private static final Actor WORKER = Actor.agent("w");

    private final World world = new World();
    private TaskRow task;

    @BeforeEach
    void anAgent() throws SQLException {
        AgentTerms terms = new AgentTerms(AgentTerms.ROSTER, null, "ann", null, List.of("echo"), 1_000, List.of());
        TaskSpec agentic = new TaskSpec("a", "A task", null, TaskType.OTHER, null, List.of(), TriggerRule.ALL_SUCCESS,
                null, null, null, false, List.of(step("turn", StepKind.TURN, "agent.turn")), null,
                TaskPolicy.DEFAULT.with(terms));
        world.send(new Command.Create(run(RUN, world.workspace, RunPolicy.DEFAULT, agentic), true, WORKER));
        task = world.view(RUN).tasks().iterator().next();
    }

    @AfterEach
    void close() throws SQLException {
        world.close();
    }

    @Test
    void eachTranscriptIsTheBeginningOfTheNext() throws SQLException {
        Random random = new Random(7);
        String before = "[";
        for (int i = 1; i <= 25; i++) {
            turn(random, "turn " + i);
            world.forget(RUN);
            JsonNode transcript = transcript();
            String text = transcript.toString();
            assertThat(text).startsWith(before);
            before = text.substring(0, text.length() - 1);
            assertThat(transcript).hasSize(i).allSatisfy(entry -> {
                List<String> asked = new ArrayList<>();
                entry.at("/answer/tool_calls").forEach(call -> asked.add(call.get("name").stringValue()));
                assertThat(entry.get("results")).extracting(result -> result.get("tool").stringValue())
                        .containsExactlyElementsOf(asked);
            });
        }
    }

    @Test
    void equalCallsWithEqualResultsAreNoticed() throws SQLException {
        for (int i = 1; i <= 8; i++) {
            ask("t", "echo");
            succeed(i == 7 ? "2" : "1");
            world.forget(RUN);
        }
        assertThat(transcript()).extracting(turn -> turn.at("/results/0/notice").asString(""))
                .containsExactly("", "", "", "",
                        "this call has had this result 5 times in a row; the task fails at 8",
                        "this call has had this result 6 times in a row; the task fails at 8", "", "");
    }

    @Test
    void cyclesOfCallsWithEqualResultsAreNoticed() throws SQLException {
        for (int i = 0; i < 12; i++) {
            ask(i % 2 == 0 ? "t" : "u", "echo");
            succeed("1");
            world.forget(RUN);
        }
        assertThat(transcript()).extracting(turn -> turn.at("/results/0/notice").asString(""))
                .startsWith("", "", "", "", "", "", "", "", "")
                .endsWith("these 2 calls in turn have had the same ends 5 times in a row; the task fails at 8",
                        "these 2 calls in turn have had the same ends 5 times in a row; the task fails at 8",
                        "these 2 calls in turn have had the same ends 6 times in a row; the task fails at 8");
    }

    @Test
    void longResultIsShownByItsBeginningAndItsEnd() throws SQLException {
        String shown = "\"" + "é".repeat(32_766) + "\"";
        String longer = "\"" + "a".repeat(20_000) + "b".repeat(5_000) + "😀".repeat(10_000) + "\"";
        ask("t", "echo", "echo");
        succeed(shown);
        succeed(longer);
        JsonNode results = transcript().at("/0/results");
        assertThat(results.at("/0/output").toString()).isEqualTo(shown);
        assertThat(results.at("/1/output_excerpt").stringValue()).isEqualTo("\"" + "a".repeat(19_999)
                + "\n[5002 characters left out]\n" + "😀".repeat(9_999) + "\"");
    }

    @Test
    void partsOfALongResultAreReadByItsTaskOnly() throws SQLException {
        ask("t", "echo");
        succeed("\"" + "a".repeat(40_000) + "b\"");
        JsonNode result = transcript().at("/0/results/0");
        UUID step = UUID.fromString(result.get("output_id").stringValue());
        assertThat(result.get("output_chars").intValue()).isEqualTo(40_003);
        assertThat(part(world.workspace, task.id(), step)).hasValue(new LongResults.Part("ab\"", 40_003));
        assertThat(part(world.workspace, UUID.randomUUID(), step)).isEmpty();
        assertThat(part(UUID.randomUUID(), task.id(), step)).isEmpty();
    }

    private Optional<LongResults.Part> part(UUID workspace, UUID ofTask, UUID step) {
        return world.database.withConnection(c -> LongResults.part(c, workspace, ofTask, step, 40_000, 50));
    }

    @Test
    void tooLongTranscriptIsRefusedAndNotCut() throws SQLException {
        for (int i = 0; i < 10; i++) {
            ask("t".repeat(100_000), "echo");
            succeed("" + i);
        }
        assertThat(transcript()).hasSize(10);
        ask("t".repeat(100_000), "echo");
        assertThatThrownBy(this::transcript).isInstanceOf(TranscriptTooLongException.class);
    }

    @Test
    void infrastructureFailureKeepsTheTranscript() throws SQLException {
        Random random = new Random(8);
        turn(random, "turn 1");
        turn(random, "turn 2");
        JsonNode before = transcript();
        for (int attempt = 1; attempt <= 2; attempt++) {
            claim();
            world.tick(Duration.ofHours(1));
            world.send(new Command.TimerDue(RUN, TimerKind.WATCH, RUN, Actor.SYSTEM));
            world.tick(Duration.ofMinutes(10));
            world.send(new Command.TimerDue(RUN, TimerKind.TASK_RETRY, task.id(), Actor.SYSTEM));
            world.forget(RUN);
            assertThat(transcript()).isEqualTo(before);
            assertThat(world.load(RUN).task(task.id()).attempt()).isEqualTo(attempt + 1);
        }
        turn(random, "turn 3");
        assertThat(transcript().toString()).startsWith(before.toString().substring(0, before.toString().length() - 1));
        assertThat(transcript()).hasSize(3);
        assertThat(world.query("select count(*) from task_steps where kind = 'turn' and state = 'cancelled'"))
                .containsExactly("2");
    }

    /** A turn with up to three calls: refused, failed, or with a result of any length. */
    private void turn(Random random, String thought) throws SQLException {
        String[] tools = random.ints(1 + random.nextInt(3), 0, 4).mapToObj(n -> n == 0 ? "forbidden" : "echo")
                .toArray(String[]::new);
        ask(thought, tools);
        for (String tool : tools) {
            if (tool.equals("echo")) {
                int dice = random.nextInt(4);
                if (dice == 0) {
                    StepRow call = claim();
                    world.send(new Command.Fail(RUN, call.id(), call.leaseEpoch(),
                            new StepError("E" + thought, ErrorClass.PERMANENT, "\"no\"\n"), Result.of("null"), WORKER));
                } else {
                    succeed(dice == 1 ? "null"
                            : "{\"b\": 1.50, \"a\": \"" + "x\\n".repeat(random.nextInt(20_000)) + "\"}");
                }
            }
        }
    }

    private void ask(String thought, String... tools) throws SQLException {
        StepRow turn = claim();
        var answer = Json.object().put("thought", thought);
        var calls = answer.putArray("tool_calls");
        List<TurnAnswer.Call> asked = new ArrayList<>();
        for (String tool : tools) {
            calls.addObject().put("name", tool);
            asked.add(new TurnAnswer.Call(tool, "{}", thought.length() + thought, RetryPolicy.STEP,
                    Duration.ofSeconds(9)));
        }
        done(turn, new Result(answer.toString(), Tokens.NONE, null, null, List.of(), null,
                new TurnAnswer.Calls(asked)));
    }

    private void succeed(String output) throws SQLException {
        done(claim(), Result.of(output));
    }

    private void done(StepRow step, Result result) throws SQLException {
        assertThat(world.send(new Command.Complete(RUN, step.id(), step.leaseEpoch(), result, WORKER)))
                .isEqualTo(Reply.CHANGED);
    }

    private StepRow claim() throws SQLException {
        world.send(new Command.Claim(RUN, task.id(), 0, "w", Duration.ofSeconds(30), WORKER));
        return world.view(RUN).task(task.id()).steps().stream().filter(StepRow::isHeld).findFirst().orElseThrow();
    }

    private JsonNode transcript() {
        return world.database.withConnection(c -> new ScopeReader().scope(c, RUN, task.id(),
                new ScopeReader.Wanted(Set.of(), false, Set.of(), false, false, false, false, true, false,
                        false))
                .get("transcript"));
    }
}
