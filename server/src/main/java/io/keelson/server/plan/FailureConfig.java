package io.keelson.server.plan;

import static io.keelson.core.plan.FailureRules.DEFAULT;

import io.keelson.core.plan.Autonomy;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.Escalation;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What a run's config says about failures (specification, failure §2–5). */
final class FailureConfig {
    static final String PLANNER = "/config/replan/planner";

    private FailureConfig() {}

    static FailureRules rules(JsonNode config, RetryPolicy task, StepReader steps) {
        JsonNode replan = config.path("replan");
        return new FailureRules(mode(config, "failure_mode"), mode(config, "agent_failure_mode"), task,
                Retries.read(config.path("level_retry"), DEFAULT.level()), escalation(config),
                planner(replan.path("planner"), steps), Nodes.integer(replan, "max", DEFAULT.maxReplans()),
                replan.path("approve").asBoolean(DEFAULT.approveReplans()),
                "fail".equals(Nodes.text(config.path("heartbeat"), "on_loss")));
    }

    static FailureMode mode(JsonNode raw, String key) {
        return Nodes.word(raw, key, FailureMode.values(), FailureMode.FAIL_FAST);
    }

    private static Escalation escalation(JsonNode config) {
        JsonNode raw = config.path("escalation");
        Escalation otherwise = Configs.autonomy(config) == Autonomy.FULL_AUTO ? Escalation.OFF : Escalation.DEFAULT;
        return new Escalation(raw.path("enabled").asBoolean(otherwise.enabled()),
                raw.path("on_exhausted").asBoolean(otherwise.onExhausted()),
                Nodes.seconds(raw, "window_s", otherwise.window()),
                Nodes.integer(raw, "error_threshold", otherwise.errorThreshold()),
                Nodes.number(raw, "error_rate", otherwise.errorRate()));
    }

    private static @Nullable StepSpec planner(JsonNode raw, StepReader steps) {
        if (!raw.isObject()) {
            return null;
        }
        ObjectNode input = Nodes.object(raw, "input").deepCopy();
        if (!input.has("failure")) {
            input.put("failure", "${ .failure }");
        }
        return steps.call(raw, input, "plan", PLANNER);
    }
}
