package io.keelson.server.work.builtin;

import io.keelson.core.money.Tokens;
import io.keelson.server.engine.tool.ToolUsage;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The usage that a tool for tests reports: the one in its input. */
final class DeclaredUsage {

    /** Members of the input's schema. */
    static final String MEMBERS = """
              "model": {"type": "string", "maxLength": 200},
              "tokens": {"type": "integer", "minimum": 0, "maximum": 1000000000000, "default": 0,
                         "description": "all of them output; ignored where usage is given"},
              "usage": {"type": "object", "additionalProperties": false, "properties": {
                "input": {"type": "integer", "minimum": 0, "maximum": 1000000000000},
                "cache_read": {"type": "integer", "minimum": 0, "maximum": 1000000000000},
                "cache_write": {"type": "integer", "minimum": 0, "maximum": 1000000000000},
                "output": {"type": "integer", "minimum": 0, "maximum": 1000000000000}}},
              "cost": {"type": "number", "minimum": 0, "maximum": 1000000, "description": "in credits; as priced when left out"},
              """;

    private DeclaredUsage() {}

    static ToolUsage of(JsonNode input) {
        JsonNode part = input.path("usage");
        Tokens tokens = part.isMissingNode() ? Tokens.undivided(input.path("tokens").asLong(0))
                : new Tokens(part.path("input").asLong(0), part.path("cache_read").asLong(0),
                        part.path("cache_write").asLong(0), part.path("output").asLong(0), 0);
        @Nullable BigDecimal cost = input.has("cost") ? input.get("cost").decimalValue() : null;
        return new ToolUsage(input.has("model") ? input.get("model").stringValue() : null, tokens, cost);
    }
}
