package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Command;
import io.keelson.server.engine.tool.BusySystems;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** A tool of this server whose system asks it to wait. */
class BusyToolTest {
    private record Sent(String model, long at) {}

    private final List<Sent> sent = new CopyOnWriteArrayList<>();
    private final BusySystems systems = new BusySystems(System::nanoTime);
    private volatile boolean busyOnce;
    private volatile Duration retryAfter = Duration.ofMillis(1_200);
    private volatile String busy = "small";
    private Nodes nodes;

    private final Tool tool = new Tool() {
        @Override
        public ToolSpec spec() {
            var any = JsonNodeFactory.instance.objectNode();
            return new ToolSpec("test.model", "Asks a model", any, any, Duration.ofSeconds(60), false);
        }

        @Override
        public ToolResult execute(ToolCall call) throws InterruptedException {
            String model = call.input().get("model").stringValue();
            try (BusySystems.Pass pass = systems.enter("model:" + model, "MODEL_UNAVAILABLE")) {
                sent.add(new Sent(model, System.nanoTime()));
                if (model.equals(busy)) {
                    busy = busyOnce ? "none" : busy;
                    throw pass.busy(retryAfter, "slow down " + call.input().path("key").asString(""));
                }
                return ToolResult.of(JsonNodeFactory.instance.stringNode(model));
            }
        }
    };

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        nodes = new Nodes(folder, tool);
        nodes.secrets.set(Nodes.WORKSPACE, "token", "token-4b1e", AuditOrigin.SERVER);
    }

    @AfterEach
    void stop() throws Exception {
        try {
            nodes.assertSound();
        } finally {
            nodes.close();
        }
    }

    private UUID submit(Engine engine, String model, String config) {
        return nodes.submit(engine, """
                name: asks
                goal: g
                %s
                plan:
                  tasks:
                    - id: a
                      steps: [{tool: test.model, input: {model: %s, key: '${ secret("token") }'}}]
                """.formatted(config, model));
    }

    private void awaitDeferred(UUID run) {
        Awaitility.await().untilAsserted(() -> assertThat(nodes.count("select count(*) from orchestration_events"
                + " where event_type = 'step_deferred' and run_id = '" + run + "'")).isPositive());
    }

    @Test
    void nothingIsSentToABusyModelBeforeItsTime() throws Exception {
        busyOnce = true;
        Engine engine = nodes.node();
        UUID first = submit(engine, "small", "");
        awaitDeferred(first);
        UUID sibling = submit(engine, "small", "");
        UUID other = submit(engine, "other", "");
        nodes.awaitState(other, "completed");
        nodes.awaitState(first, "completed");
        nodes.awaitState(sibling, "completed");

        List<Long> times = sent.stream().filter(each -> each.model.equals("small")).map(Sent::at).toList();
        assertThat(times).hasSize(3);
        assertThat(times.get(1) - times.get(0)).isGreaterThanOrEqualTo(retryAfter.toNanos());
        assertThat(nodes.count("select max(attempt) from orchestration_steps")).isEqualTo(1);
        assertThat(nodes.count("select sum(failures) from orchestration_steps")).isZero();
        assertThat(nodes.count("select count(*) from orchestration_events e where e::text like '%4b1e%'")).isZero();
        assertThat(nodes.count("select count(*) from orchestration_events e where e::text like '%slow down [secret]%'"))
                .isEqualTo(1);
    }

    @Test
    void anotherNodeContinuesWhenTheFirstIsGone() throws Exception {
        Engine one = nodes.node();
        UUID run = submit(one, "small", "");
        awaitDeferred(run);
        one.close();
        busy = "none";
        nodes.node();
        nodes.awaitState(run, "completed");
        assertThat(nodes.count("select attempt from orchestration_steps")).isEqualTo(1);
        assertThat(nodes.count("select lease_epoch from orchestration_steps")).isGreaterThan(1);
    }

    @Test
    void runFailsAfterItsPatience() throws Exception {
        retryAfter = Duration.ofMinutes(1);
        UUID run = submit(nodes.node(), "small", "config: {timeouts: {provider_wait_seconds: 0.3}}");
        nodes.awaitState(run, "failed");
        assertThat(nodes.text("select error_code from orchestration_steps")).isEqualTo("MODEL_UNAVAILABLE");
        assertThat(sent).as("the model's own time is longer").hasSize(1);
    }

    @Test
    void cancelledRunIsNotTriedAgain() throws Exception {
        retryAfter = Duration.ofMinutes(1);
        Engine engine = nodes.node();
        UUID run = submit(engine, "small", "");
        awaitDeferred(run);
        engine.submit(new Command.Cancel(run, null, Nodes.WHO)).join();
        nodes.awaitState(run, "cancelled");
        assertThat(nodes.count("select count(*) from timers where run_id = '" + run + "'")).isZero();
        assertThat(sent).hasSize(1);
    }
}
