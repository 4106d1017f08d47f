package io.keelson.server.engine.store;

import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Hooks;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.plan.UndoRules;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.TextColumns;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Policies as stored in the tables. Absent members have the default; blocks of a run's policy with default values are
 * not stored.
 */
final class Policies {
    private static final LoadingCache<RunPolicy, String> RUNS = TextColumns.cached(Policies::write);

    private Policies() {}

    static String run(RunPolicy policy) {
        return RUNS.get(policy);
    }

    private static String write(RunPolicy policy) {
        ObjectNode document = Json.MAPPER.valueToTree(policy);
        leaveOut(document, "failures", policy.failures().equals(FailureRules.DEFAULT));
        leaveOut(document, "timeouts", policy.timeouts().equals(Timeouts.DEFAULT));
        leaveOut(document, "humans", policy.humans().equals(HumanRules.DEFAULT));
        leaveOut(document, "hooks", policy.hooks().equals(Hooks.NONE));
        leaveOut(document, "budget", policy.budget().equals(Budget.NONE));
        leaveOut(document, "concurrency", policy.concurrency() == null);
        if (policy.concurrency() != null && policy.concurrency().rate() == null) {
            // Servers of former versions do not know it.
            ((ObjectNode) document.get("concurrency")).remove("rate");
        }
        leaveOut(document, "undo", policy.undo().equals(UndoRules.NONE));
        return document.toString();
    }

    private static void leaveOut(ObjectNode document, String block, boolean isDefault) {
        if (isDefault) {
            document.remove(block);
        }
    }

    static RunPolicy run(String json) {
        return read(json, RunPolicy.DEFAULT, RunPolicy.class);
    }

    /** Null for the default. */
    static @Nullable String task(TaskPolicy policy) {
        return policy.equals(TaskPolicy.DEFAULT) ? null : Json.MAPPER.writeValueAsString(policy);
    }

    static TaskPolicy task(@Nullable String json) {
        return json == null ? TaskPolicy.DEFAULT : read(json, TaskPolicy.DEFAULT, TaskPolicy.class);
    }

    private static <T> T read(String json, T otherwise, Class<T> type) {
        ObjectNode document = Json.MAPPER.valueToTree(otherwise);
        overlay(document, Json.read(json));
        return Json.MAPPER.treeToValue(document, type);
    }

    /** Replaces members of objects by name; any other value is replaced as a whole. */
    private static void overlay(ObjectNode below, JsonNode above) {
        above.properties().forEach(member -> {
            if (below.get(member.getKey()) instanceof ObjectNode inner && member.getValue().isObject()) {
                overlay(inner, member.getValue());
            } else {
                below.set(member.getKey(), member.getValue());
            }
        });
    }
}
