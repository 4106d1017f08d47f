package io.keelson.core.run;

import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a step's execution yielded.
 *
 * @param output JSON text, opaque to the core
 * @param tokens model tokens used, ≥ 0
 * @param cost in USD, ≥ 0
 * @param verdict what the output says as a verdict, which counts of verifying steps only; null when it says none
 */
public record Result(String output, long tokens, BigDecimal cost, List<NewArtifact> artifacts,
        @Nullable Verdict verdict) {

    public Result {
        artifacts = List.copyOf(artifacts);
    }

    /** Of a step that does not verify. */
    public Result(String output, long tokens, BigDecimal cost, List<NewArtifact> artifacts) {
        this(output, tokens, cost, artifacts, null);
    }

    public static Result of(String output) {
        return new Result(output, 0, BigDecimal.ZERO, List.of());
    }
}
