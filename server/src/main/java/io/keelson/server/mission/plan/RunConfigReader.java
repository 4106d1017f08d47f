package io.keelson.server.mission.plan;

import static io.keelson.core.plan.RunPolicy.DEFAULT;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.Autonomy;
import io.keelson.core.plan.Concurrency;
import io.keelson.core.plan.Hooks;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.plan.UndoRules;
import io.keelson.core.plan.VersionBehavior;
import io.keelson.core.policy.Rate;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command.Evaluation.Planned;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads the part of a run's config that the core uses; the rest is stored as given. */
final class RunConfigReader {

    private static final List<String> AMOUNTS = List.of("hard_limit_usd", "soft_limit_usd", "min_credits");
    /** The member of a configuration about versions of workers. */
    static final String WORKER_VERSIONS = "worker_versions";
    private static final int MAX_SCALE = 6;
    private static final int SECONDS_PER_MINUTE = 60;

    private RunConfigReader() {}

    /**
     * @param plan the plan's document, for its estimate
     * @param steps reads the calls of hooks and the planner
     */
    static RunPolicy policy(JsonNode config, JsonNode plan, StepReader steps) {
        JsonNode limits = config.path("limits");
        return new RunPolicy(approve(config.path("autonomy"), plan),
                JsonFields.integer(config, "max_attempts", DEFAULT.maxAttempts()),
                JsonFields.integer(config, "max_agents", DEFAULT.maxAgents()),
                JsonFields.integer(limits, "tasks_per_agent", DEFAULT.tasksPerAgent()),
                JsonFields.integer(limits, "tasks_per_default_agent", DEFAULT.tasksPerDefaultAgent()),
                JsonFields.integer(limits, "steps_per_task", DEFAULT.stepsPerTask()),
                "sequential".equals(JsonFields.text(config, "task_order")),
                JsonFields.integer(limits, "max_deliveries", DEFAULT.maxDeliveries()),
                JsonFields.integer(config.path("retry"), "max_continuations_per_task", DEFAULT.maxContinuations()),
                DEFAULT.maxFanOut(), FailureConfig.rules(config, taskRetry(config), steps),
                timeouts(config.path("timeouts"), config.path("heartbeat")), humans(config, plan),
                new Hooks(hook(config, "before_run", steps), hook(config, "after_run", steps)),
                budget(config.path("budget"), plan), concurrency(config.path("concurrency")))
                .with(new UndoRules(undoes(config, "on_failure"), undoes(config, "on_cancel"), null))
                .with(versions(JsonFields.text(config, WORKER_VERSIONS)));
    }

    private static @Nullable VersionBehavior versions(@Nullable String word) {
        return word == null ? null : word.equals("latest") ? VersionBehavior.LATEST : VersionBehavior.PINNED;
    }

    private static boolean undoes(JsonNode config, String when) {
        return UndoReader.UNDO.equals(JsonFields.text(config, when));
    }

    /** Turns of an agent in a task, the first included. */
    static int turns(JsonNode config) {
        return JsonFields.integer(config.path("retry"), "max_continuations_per_task", DEFAULT.maxContinuations()) + 1;
    }

    /** How tasks are tried again as a whole, in the words of PRD-101. */
    static RetryPolicy taskRetry(JsonNode config) {
        JsonNode raw = config.path("retry");
        RetryPolicy base = RetryPolicy.TASK;
        int attempts = Math.max(1, JsonFields.integer(raw, "max_retries_per_task", base.maxAttempts()));
        return new RetryPolicy(attempts, attempts, JsonFields.delay(raw, "backoff_base_seconds", base.base()),
                JsonFields.delay(raw, "backoff_max_seconds", base.max()), base.factor(), base.jitter(),
                raw.has("max_elapsed_seconds") ? JsonFields.seconds(raw, "max_elapsed_seconds", base.max()) : null);
    }

    static Autonomy autonomy(JsonNode config) {
        String level = JsonFields.text(config.path("autonomy"), "level", "");
        for (Autonomy each : Autonomy.values()) {
            if (each.wire().equals(level)) {
                return each;
            }
        }
        return Autonomy.APPROVE;
    }

    /** A plan that its caller gave counts as approved unless the level says otherwise. */
    private static boolean approve(JsonNode autonomy, JsonNode plan) {
        String level = JsonFields.text(autonomy, "level", "");
        if (GoalMissions.unplanned(plan)) {
            return !level.equals(Autonomy.FULL_AUTO.wire());
        }
        return level.equals(Autonomy.APPROVE.wire()) || level.equals(Autonomy.AUTONOMOUS.wire())
                && estimate(plan).compareTo(threshold(autonomy)) > 0;
    }

    /** A plan that a planner made is put before a person unless the level says otherwise. */
    static Planned.Terms terms(JsonNode config, JsonNode plan) {
        Autonomy level = autonomy(config);
        return new Planned.Terms(level == Autonomy.APPROVE,
                level == Autonomy.AUTONOMOUS ? threshold(config.path("autonomy")) : null,
                budget(config.path("budget"), plan));
    }

    /** Credits; what no threshold is given for may cost nothing. */
    private static BigDecimal threshold(JsonNode autonomy) {
        return Objects.requireNonNullElse(amount(autonomy, "auto_approve_threshold"), BigDecimal.ZERO);
    }

    /** Credits. */
    private static BigDecimal estimate(JsonNode plan) {
        BigDecimal whole = amount(plan, "total_estimated_cost");
        return whole != null ? whole
                : plan.path("tasks").valueStream().map(task -> amount(task, "estimated_cost")).filter(Objects::nonNull)
                        .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static @Nullable Concurrency concurrency(JsonNode raw) {
        String key = JsonFields.text(raw, "key");
        JsonNode rate = raw.path("rate");
        if (key == null) {
            return null;
        }
        return rate.isObject()
                ? new Concurrency(key, Math.max(1, JsonFields.integer(raw, "limit", Integer.MAX_VALUE)),
                        new Rate(Math.max(1, JsonFields.integer(rate, "limit", 1)),
                                Math.max(1, JsonFields.integer(rate, "period_seconds", SECONDS_PER_MINUTE))))
                : new Concurrency(key, Math.max(1, JsonFields.integer(raw, "limit", 1)), null);
    }

    /**
     * The estimated use of models, if the plan does not state its cost: by its tasks, or as a whole
     * where they say nothing but all name the same model.
     */
    private static Map<String, Long> tokens(JsonNode plan) {
        if (amount(plan, "total_estimated_cost") != null) {
            return Map.of();
        }
        Map<String, Long> tokens = new TreeMap<>();
        plan.path("tasks").valueStream().filter(task -> amount(task, "estimated_cost") == null)
                .filter(task -> JsonFields.text(task, "suggested_model") != null)
                .forEach(task -> tokens.merge(JsonFields.text(task, "suggested_model", ""),
                        task.path("estimated_tokens").asLong(0), Long::sum));
        long whole = plan.path("total_estimated_tokens").asLong(0);
        if (tokens.size() == 1 && tokens.containsValue(0L)) {
            tokens.replaceAll((model, none) -> whole);
        }
        tokens.values().removeIf(used -> used == 0);
        return tokens;
    }

    /** Amounts are exact: an amount with more decimal places than an account is refused, not rounded. */
    static void checkAmounts(JsonNode budget, Problems problems) {
        AMOUNTS.forEach(name -> checkPlaces(budget, name, "/config/budget", problems));
        BigDecimal hard = amount(budget, "hard_limit_usd");
        BigDecimal soft = amount(budget, "soft_limit_usd");
        if (hard != null && soft != null && soft.compareTo(hard) > 0) {
            problems.add("INVALID_VALUE", "/config/budget/soft_limit_usd",
                    "must not be above hard_limit_usd, at which the run stops without a warning");
        }
    }

    /** Checks a plan's estimates and its tasks' budgets. */
    static void checkEstimates(JsonNode plan, Problems problems) {
        checkPlaces(plan, "total_estimated_cost", "/plan", problems);
        JsonNode tasks = plan.path("tasks");
        for (int i = 0; i < tasks.size(); i++) {
            checkPlaces(tasks.path(i), "estimated_cost", "/plan/tasks/" + i, problems);
            checkPlaces(tasks.path(i), TaskReader.BUDGET, "/plan/tasks/" + i, problems);
        }
    }

    private static void checkPlaces(JsonNode object, String name, String at, Problems problems) {
        BigDecimal amount = amount(object, name);
        if (amount != null && amount.signum() != 0 && amount.stripTrailingZeros().scale() > MAX_SCALE) {
            problems.add("OUT_OF_RANGE", at + "/" + name, "at most " + MAX_SCALE + " decimal places");
        }
    }

    private static Budget budget(JsonNode raw, JsonNode plan) {
        return new Budget(estimate(plan), tokens(plan), amount(raw, "hard_limit_usd"), amount(raw, "soft_limit_usd"),
                amount(raw, "warn_at_percent"), Objects.requireNonNullElse(amount(raw, "min_credits"), Amounts.ZERO));
    }

    private static @Nullable BigDecimal amount(JsonNode object, String name) {
        return object.path(name).isNumber() ? object.path(name).decimalValue() : null;
    }

    private static Timeouts timeouts(JsonNode raw, JsonNode heartbeat) {
        Timeouts otherwise = Timeouts.DEFAULT;
        return new Timeouts(JsonFields.seconds(raw, "run_pending_seconds", otherwise.pending()),
                JsonFields.seconds(raw, "run_max_duration_seconds", otherwise.running()),
                JsonFields.seconds(raw, "run_paused_seconds", otherwise.paused()),
                JsonFields.seconds(raw, "run_resuming_seconds", otherwise.resuming()),
                JsonFields.seconds(raw, "run_retrying_seconds", otherwise.retrying()),
                JsonFields.seconds(raw, "agent_seconds", otherwise.agent()),
                JsonFields.seconds(raw, "task_seconds", otherwise.task()),
                JsonFields.seconds(raw, "task_stall_seconds", otherwise.stall()),
                JsonFields.seconds(raw, "task_assign_seconds", otherwise.assign()),
                JsonFields.seconds(raw, "verify_seconds", otherwise.verify()),
                JsonFields.seconds(heartbeat, "timeout_seconds", otherwise.heartbeat()),
                JsonFields.seconds(raw, "provider_wait_seconds", otherwise.providerWait()));
    }

    private static HumanRules humans(JsonNode config, JsonNode plan) {
        HumanRules otherwise = HumanRules.DEFAULT;
        return new HumanRules("human".equals(JsonFields.text(config, "acceptance")),
                JsonFields.seconds(config, "human_timeout_seconds", otherwise.timeout()),
                JsonFields.word(config, "on_human_timeout", HumanRules.OnTimeout.values(), otherwise.onTimeout()),
                GoalMissions.unplanned(plan) || config.path("autonomy").has("level") ? autonomy(config)
                        : Autonomy.AUTONOMOUS,
                JsonFields.integer(config, TaskReader.APPROVALS, otherwise.approvals()),
                config.path("four_eyes").asBoolean(otherwise.fourEyes()));
    }

    private static @Nullable StepSpec hook(JsonNode config, String name, StepReader steps) {
        JsonNode raw = config.path("hooks").path(name);
        return raw.isObject() ? steps.call(raw, JsonFields.object(raw, "input"), name, "/config/hooks/" + name) : null;
    }
}
