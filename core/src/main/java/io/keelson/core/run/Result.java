package io.keelson.core.run;

import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a step's execution yielded.
 *
 * @param output JSON text, opaque to the core
 * @param tokens model tokens used, ≥ 0
 * @param cost in USD, ≥ 0; null when the executor does not say, and prices decide
 * @param model that used the tokens; null when none is named
 * @param proposals to people; recorded when the result is
 * @param verdict what the output says as a verdict, which counts of verifying steps only; null when it says none
 * @param turn what the output says as an agent's turn, which counts of turns only; null when it says nothing of the kind
 * @param input JSON text of the resolved input, redacted; null when it is the plan's own or unknown
 * @param outputHash of the output as a worker reported it; null where no report can be repeated
 */
public record Result(String output, long tokens, @Nullable BigDecimal cost, @Nullable String model,
        List<NewArtifact> artifacts, List<NewProposal> proposals, @Nullable Verdict verdict,
        @Nullable TurnAnswer turn, @Nullable String input, @Nullable Long outputHash) {

    public Result {
        artifacts = List.copyOf(artifacts);
        proposals = List.copyOf(proposals);
    }

    /** Of an executor that does not say what it was given. */
    public Result(String output, long tokens, @Nullable BigDecimal cost, @Nullable String model,
            List<NewArtifact> artifacts, List<NewProposal> proposals, @Nullable Verdict verdict,
            @Nullable TurnAnswer turn) {
        this(output, tokens, cost, model, artifacts, proposals, verdict, turn, null, null);
    }

    /** One that proposes nothing. */
    public Result(String output, long tokens, @Nullable BigDecimal cost, @Nullable String model,
            List<NewArtifact> artifacts, @Nullable Verdict verdict, @Nullable TurnAnswer turn) {
        this(output, tokens, cost, model, artifacts, List.of(), verdict, turn);
    }

    /** Of a step that is no agent's turn. */
    public Result(String output, long tokens, @Nullable BigDecimal cost, @Nullable String model,
            List<NewArtifact> artifacts, @Nullable Verdict verdict) {
        this(output, tokens, cost, model, artifacts, verdict, null);
    }

    /** The same with another output. */
    public Result yielding(String json) {
        return new Result(json, tokens, cost, model, artifacts, proposals, verdict, turn, input, outputHash);
    }

    /** The same with the input that the step was given. */
    public Result given(@Nullable String json) {
        return new Result(output, tokens, cost, model, artifacts, proposals, verdict, turn, json, outputHash);
    }

    /** The same as a failure: what was used, and what the report said. */
    public Result spent() {
        return new Result("null", tokens, cost, model, List.of(), List.of(), null, null, input, outputHash);
    }

    /** Of a step that does not verify, and names no model. */
    public Result(String output, long tokens, @Nullable BigDecimal cost, List<NewArtifact> artifacts) {
        this(output, tokens, cost, null, artifacts, null);
    }

    /** Of an executor that says nothing of tokens and cost. */
    public static Result of(String output) {
        return new Result(output, 0, null, List.of());
    }

    /** Of a try that failed: what it used, and nothing else. */
    public static Result spent(long tokens, @Nullable BigDecimal cost, @Nullable String model) {
        return new Result("null", tokens, cost, model, List.of(), null);
    }
}
