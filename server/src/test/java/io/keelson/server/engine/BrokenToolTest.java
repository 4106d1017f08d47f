package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** Tools that break: over a secret, and say so with it, and over an answer for which there is no memory. */
class BrokenToolTest {

    private static final Tool BROKEN = new Tool() {
        @Override
        public ToolSpec spec() {
            var any = JsonNodeFactory.instance.objectNode();
            return new ToolSpec("test.broken", "Breaks", any, any, Duration.ofSeconds(60), false);
        }

        @Override
        public ToolResult execute(ToolCall call) {
            String input = call.input().toString();
            throw new IllegalArgumentException("no sense in " + input, new IllegalStateException(input));
        }
    };

    @Test
    void errorDoesNotContainTheSecret(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder, BROKEN)) {
            nodes.secrets.set(Nodes.WORKSPACE, "token", "token-4b1e", AuditOrigin.SERVER);
            UUID run = nodes.submit(nodes.node(), """
                    name: breaks
                    goal: g
                    plan:
                      tasks:
                        - id: a
                          steps: [{tool: test.broken, input: {v: '${ secret("token") }'}, retry: {max_attempts: 1}}]
                    """);
            nodes.awaitState(run, "failed");

            assertThat(nodes.text("select error_message from orchestration_steps"))
                    .contains("failed unexpectedly", "[secret]")
                    .doesNotContain("4b1e");
            assertThat(nodes.count("select count(*) from orchestration_events e where e::text like '%4b1e%'"))
                    .isZero();
        }
    }

    private static final Tool GREEDY = new Tool() {
        @Override
        public ToolSpec spec() {
            var any = JsonNodeFactory.instance.objectNode();
            return new ToolSpec("test.greedy", "Reads much", any, any, Duration.ofSeconds(60), false);
        }

        @Override
        public ToolResult execute(ToolCall call) {
            DocumentMemory.take(Runtime.getRuntime().maxMemory());
            return ToolResult.of(JsonNodeFactory.instance.objectNode());
        }
    };

    /** Each execution of a step has a share of the memory for answers. */
    @Test
    void anAnswerWithoutMemoryFailsItsStep(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder, GREEDY)) {
            UUID run = nodes.submit(nodes.node(), """
                    name: reads
                    goal: g
                    plan: {tasks: [{id: a, steps: [{tool: test.greedy, retry: {max_attempts: 1}}]}]}
                    """);
            nodes.awaitState(run, "failed");

            assertThat(nodes.text("select error_code from orchestration_steps")).isEqualTo("ANSWER_NOT_READ");
        }
    }
}
