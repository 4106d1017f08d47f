package io.keelson.server.engine.store;

import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.TextColumns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads steps' specifications from their columns. Most steps share a few retry policies. */
final class StepSpecs {
    private final Map<String, RetryPolicy> policies = new HashMap<>();

    /** @param input JSON text */
    StepSpec spec(String name, String kind, String tool, String input, String retry, long timeoutMs) {
        return new StepSpec(name, StepKind.valueOf(kind.toUpperCase(Locale.ROOT)), tool, input,
                policies.computeIfAbsent(retry, TextColumns::retry), Duration.ofMillis(timeoutMs));
    }

    List<StepSpec> read(String json) {
        List<StepSpec> specs = new ArrayList<>();
        for (JsonNode each : Json.read(json)) {
            specs.add(spec(each.get("name").asString(), each.get("kind").asString(), each.get("tool").asString(),
                    each.get("input").toString(), each.get("retry").toString(), each.get("timeout_ms").asLong())
                    .within(TextColumns.worstCase(each.has("worst_case") ? each.get("worst_case").toString() : null)));
        }
        return specs;
    }

    static String write(List<StepSpec> specs) {
        ArrayNode all = Json.array();
        for (StepSpec spec : specs) {
            ObjectNode each = all.addObject().put("name", spec.name()).put("kind", spec.kind().wire())
                    .put("tool", spec.tool()).put("timeout_ms", spec.timeout().toMillis());
            each.set("input", Json.read(spec.input()));
            each.set("retry", Json.read(TextColumns.retry(spec.retry())));
            String worstCase = TextColumns.worstCase(spec.worstCase());
            if (worstCase != null) {
                each.set("worst_case", Json.read(worstCase));
            }
        }
        return all.toString();
    }
}
