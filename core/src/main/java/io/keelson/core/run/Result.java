package io.keelson.core.run;

import java.math.BigDecimal;
import java.util.List;

/**
 * What a step's execution yielded.
 *
 * @param output JSON text, opaque to the core
 * @param tokens model tokens used, ≥ 0
 * @param cost in USD, ≥ 0
 */
public record Result(String output, long tokens, BigDecimal cost, List<NewArtifact> artifacts) {

    public Result {
        artifacts = List.copyOf(artifacts);
    }

    public static Result of(String output) {
        return new Result(output, 0, BigDecimal.ZERO, List.of());
    }
}
