package io.keelson.server.mission.plan;

import static io.keelson.core.plan.FailureRules.DEFAULT;

import io.keelson.core.plan.Autonomy;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Models;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The failure rules of a run's config. */
final class FailureConfig {
    private static final String PLANNER = "/config/planner";
    private static final String REPLANNER = "/config/replan/planner";

    private FailureConfig() {}

    static FailureRules rules(JsonNode config, RetryPolicy task, StepReader steps) {
        JsonNode replan = config.path("replan");
        RetryPolicy level = Retries.read(config.path("level_retry"), DEFAULT.level());
        return new FailureRules(mode(config, "failure_mode"),
                config.has("agent_failure_mode") ? mode(config, "agent_failure_mode") : null, task,
                level, runTries(config, level), escalation(config),
                planner(config, steps), JsonFields.integer(replan, "max", DEFAULT.maxReplans()),
                replan.path("approve").asBoolean(DEFAULT.approveReplans()),
                "fail".equals(JsonFields.text(config.path("heartbeat"), "on_loss")),
                models(config), "keep".equals(JsonFields.text(config.path("retry"), "context")),
                replan.path("at_budget").asBoolean(false));
    }

    /** As {@code level_retry} says; where it says nothing about it, {@code max_attempts} of the run alone decides. */
    private static int runTries(JsonNode config, RetryPolicy level) {
        JsonNode raw = config.path("level_retry");
        return Stream.of("max_attempts", "max_failures", "preset").anyMatch(raw::has) ? FailureRules.tries(level)
                : JsonFields.integer(config, "max_attempts", RunPolicy.DEFAULT.maxAttempts());
    }

    private static Models models(JsonNode config) {
        JsonNode preferences = config.path("model_preferences");
        String own = JsonFields.text(config.at(plannerAt(config).substring("/config".length())).path("input"), "model");
        return new Models(own == null ? JsonFields.text(preferences, "planner") : own,
                JsonFields.text(preferences, "verifier"));
    }

    static FailureMode mode(JsonNode raw, String key) {
        return JsonFields.word(raw, key, FailureMode.values(), FailureMode.FAIL_FAST);
    }

    private static EscalationPolicy escalation(JsonNode config) {
        JsonNode raw = config.path("escalation");
        EscalationPolicy otherwise =
                RunConfigReader.autonomy(config) == Autonomy.FULL_AUTO ? EscalationPolicy.OFF
                        : EscalationPolicy.DEFAULT;
        return new EscalationPolicy(raw.path("enabled").asBoolean(otherwise.enabled()),
                raw.path("on_exhausted").asBoolean(otherwise.onExhausted()),
                JsonFields.seconds(raw, "window_s", otherwise.window()),
                JsonFields.integer(raw, "error_threshold", otherwise.errorThreshold()),
                JsonFields.number(raw, "error_rate", otherwise.errorRate()));
    }

    /** Pointer to the planner: the one for first plans also replans; a planner only for replans has its own place. */
    static String plannerAt(JsonNode config) {
        return config.path("planner").isObject() ? PLANNER : REPLANNER;
    }

    static void checkPlanners(JsonNode config, Problems problems) {
        if (config.path("planner").isObject() && config.path("replan").has("planner")) {
            problems.add("INVALID_VALUE", REPLANNER, "config.planner also replans: remove one of them");
        }
    }

    private static @Nullable StepSpec planner(JsonNode config, StepReader steps) {
        String at = plannerAt(config);
        JsonNode raw = config.at(at.substring("/config".length()));
        if (!raw.isObject()) {
            return null;
        }
        ObjectNode input = JsonFields.object(raw, "input").deepCopy();
        if (Models.PLAN_TOOL.equals(JsonFields.text(raw, "tool"))) {
            modelPlans(config, raw, input);
        } else if (at.equals(PLANNER) && !raw.has("input")) {
            input.put("goal", "${ .run.goal }").put("inputs", "${ .inputs }").put("plan", "${ .run.plan }")
                    .put("failure", "${ .failure }");
        } else if (at.equals(REPLANNER) && !input.has("failure")) {
            input.put("failure", "${ .failure }");
        }
        return steps.call(raw, input, "plan", at);
    }

    private static void modelPlans(JsonNode config, JsonNode raw, ObjectNode input) {
        JsonNode preferences = config.path("model_preferences");
        String model = JsonFields.text(preferences, "planner");
        if (model != null && !input.has("model")) {
            input.put("model", model);
        }
        Map.of("goal", "${ .run.goal }", "inputs", "${ .inputs }", "plan", "${ .run.plan }", "failure", "${ .failure }")
                .forEach((name, value) -> input.putIfAbsent(name, JsonNodeFactory.instance.stringNode(value)));
        JsonNode budget = config.path("budget").path("hard_limit_usd");
        if (budget.isNumber()) {
            input.putIfAbsent("budget_usd", budget);
        }
        if (raw.path("max_tasks").isInt()) {
            input.putIfAbsent("max_tasks", raw.get("max_tasks"));
        }
        Stream.of("allowed_tools", "denied_tools").filter(rule -> config.path(rule).isArray())
                .forEach(rule -> input.putIfAbsent(rule, config.get(rule)));
        String judge = VerifyReader.judge(config);
        if (judge != null) {
            input.putIfAbsent("judge", JsonNodeFactory.instance.stringNode(judge));
        }
    }
}
