package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Steps that wait use other slots than steps that compute; few of them at a time do not wait. */
class SlotKindsTest {
    private static final int MANY = 1_000;

    @TempDir
    Path folder;
    private final GateTool computing = new GateTool("test.computing", SlotKind.COMPUTING);
    private final GateTool waiting = new GateTool("test.waiting", SlotKind.WAITING);
    private final GateTool reading = new GateTool("test.reading", SlotKind.WAITING);
    private Nodes nodes;

    @BeforeEach
    void start() throws Exception {
        nodes = new Nodes(folder, computing, asking(waiting), reading);
    }

    /** The tool, as one that waits at the gate for another system. */
    private static Tool asking(GateTool gate) {
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return gate.spec();
            }

            @Override
            public ToolResult execute(ToolCall call) throws InterruptedException {
                call.execution().waitBegins();
                ToolResult result = gate.execute(call);
                call.execution().waitEnds();
                call.execution().waitEnds();
                return result;
            }
        };
    }

    @AfterEach
    void stop() throws Exception {
        List.of(computing, waiting, reading).forEach(gate -> gate.open.release(MANY));
        try {
            nodes.assertSound();
        } finally {
            nodes.close();
        }
    }

    @Test
    void eachKindHasItsOwnSlots() throws Exception {
        Engine engine = nodes.node(Map.of(SlotKind.COMPUTING, 2, SlotKind.WAITING, 3));
        List<UUID> runs = submit(engine, 6, "test.computing");
        computing.awaitEntered(2);

        runs.addAll(submit(engine, 6, "test.waiting"));
        waiting.awaitEntered(3);

        assertThat(engine.busy(SlotKind.COMPUTING)).isEqualTo(2);
        assertThat(engine.busy(SlotKind.WAITING)).isEqualTo(3);
        assertThat(held("test.computing")).isEqualTo(2);
        assertThat(held("test.waiting")).isEqualTo(3);
        waiting.open.release(MANY);
        waiting.awaitEntered(3);
        assertThat(held("test.computing")).isEqualTo(2);
        computing.open.release(MANY);
        runs.forEach(run -> nodes.awaitState(run, "completed"));
        assertThat(computing.entered.availablePermits()).isEqualTo(4);
    }

    @Test
    void aTaskThatContinuesWithAnotherKindNeedsASlotOfThatKind() throws Exception {
        Engine engine = nodes.node(Map.of(SlotKind.COMPUTING, 1, SlotKind.WAITING, 3));
        List<UUID> runs = submit(engine, 3, "test.waiting", "test.computing", "test.waiting");
        waiting.awaitEntered(3);
        waiting.open.release(3);
        for (int i = 0; i < 3; i++) {
            computing.awaitEntered(1);
            assertThat(computing.entered.availablePermits()).isZero();
            assertThat(engine.busy(SlotKind.COMPUTING)).isEqualTo(1);
            computing.open.release();
            waiting.awaitEntered(1);
        }
        assertThat(engine.busy(SlotKind.WAITING)).isEqualTo(3);
        waiting.open.release(3);
        runs.forEach(run -> nodes.awaitState(run, "completed"));
    }

    @Test
    void asManyPrepareOrProcessAsThereAreComputingSlots() throws Exception {
        Engine engine = nodes.node(Map.of(SlotKind.COMPUTING, 2, SlotKind.WAITING, 5));
        List<UUID> runs = submit(engine, 5, "test.reading");
        reading.awaitEntered(2);
        assertThat(held("test.reading")).isEqualTo(5);
        for (int i = 0; i < 3; i++) {
            assertThat(reading.entered.availablePermits()).isZero();
            reading.open.release();
            reading.awaitEntered(1);
        }
        reading.open.release(2);
        runs.forEach(run -> nodes.awaitState(run, "completed"));
    }

    @Test
    void answeredStepDoesNotWaitForBeginningSteps() throws Exception {
        Engine engine = nodes.node(Map.of(SlotKind.COMPUTING, 1, SlotKind.WAITING, 5));
        UUID answered = submit(engine, 1, "test.waiting").getFirst();
        waiting.awaitEntered(1);
        List<UUID> beginning = submit(engine, 3, "test.reading");
        reading.awaitEntered(1);
        waiting.open.release();
        nodes.awaitState(answered, "completed");
        reading.open.release(3);
        beginning.forEach(run -> nodes.awaitState(run, "completed"));
    }

    @Test
    void aServerWithoutWaitingSlotsLeavesSuchSteps() throws Exception {
        Engine engine = nodes.node(Map.of(SlotKind.COMPUTING, 1, SlotKind.WAITING, 0));
        UUID run = submit(engine, 1, "test.waiting").getFirst();
        UUID other = submit(engine, 1, "test.computing").getFirst();
        computing.open.release();
        nodes.awaitState(other, "completed");
        assertThat(held("test.waiting")).isZero();
        nodes.node(Map.of(SlotKind.COMPUTING, 0, SlotKind.WAITING, 1));
        waiting.open.release();
        nodes.awaitState(run, "completed");
    }

    private long held(String tool) {
        return nodes.count("select count(*) from work_queue where holder is not null and tool = '" + tool + "'");
    }

    private List<UUID> submit(Engine engine, int count, String... tools) {
        List<String> steps = new ArrayList<>();
        for (String tool : tools) {
            steps.add("{tool: " + tool + "}");
        }
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            runs.add(nodes.submit(engine,
                    "{name: slots, goal: g, plan: {tasks: [{id: a, steps: [" + String.join(", ", steps) + "]}]}}"));
        }
        return runs;
    }
}
