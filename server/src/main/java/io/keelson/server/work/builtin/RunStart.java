package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;

/** {@code run.start}: another run, whose output is the step's. The engine starts it and waits; it holds no worker. */
final class RunStart implements Tool {

    private static final ToolSpec SPEC = new ToolSpec("run.start",
            "Starts a run, of a plan or a recipe, and waits for its end, holding no worker; yields its output. Expressions in"
                    + " plan, output and config are the child's own.",
            Specs.json("""
            {"type": "object", "additionalProperties": false, "oneOf": [{"required": ["plan"]}, {"required": ["recipe"]}],
             "properties": {
              "name": {"type": "string", "minLength": 1, "maxLength": 200},
              "goal": {"type": "string"},
              "plan": {"type": ["object", "string"], "description": "As in a mission; a text is an expression that yields one"},
              "recipe": {"type": "string", "minLength": 1,
                "description": "Name or id of a recipe, instead of plan and output"},
              "output": {"description": "As in a mission: what the child, and so the step, yields"},
              "config": {"type": "object", "description": "As in a mission"},
              "inputs": {"type": "object", "description": "Values, which the child's expressions see as .inputs; a recipe's parameters"},
              "budget_usd": {"type": "number", "minimum": 0, "maximum": 1000000000,
                "description": "Hard limit of its cost; the parent's remaining budget when absent"},
              "on_parent_close": {"enum": ["cancel", "abandon"], "default": "cancel",
                "description": "What happens to it when its parent no longer waits for it"},
              "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 31622400}}}"""),
            Specs.json("{\"description\": \"The child's output; null when it has none\"}"),
            Duration.ofDays(367), true).having(Effects.IDEMPOTENT).reachingOut();

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        throw new IllegalStateException("the engine carries out run.start; no executor may claim it");
    }
}
