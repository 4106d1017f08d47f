package io.keelson.core.run;

import io.keelson.core.money.Tokens;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a step's execution.
 *
 * @param output JSON text, opaque to the core
 * @param tokens model tokens used
 * @param cost in credits, ≥ 0; null when the executor does not report it, and prices decide
 * @param model that used the tokens; null when none is named
 * @param proposals to people; recorded with the result
 * @param verdict the output as a verdict, for verifying steps only; null if absent
 * @param turn the output as an agent's turn, for turns only; null if absent
 * @param input JSON text of the resolved input, redacted; null when it is the plan's own or unknown
 * @param outputHash of the output as a worker reported it; null where no report can be repeated
 * @param asked the model that was to be used, where another one was; null where none was
 * @param estimated whether some of the tokens are an upper bound, as their provider has not reported them
 */
public record Result(String output, Tokens tokens, @Nullable BigDecimal cost, @Nullable String model,
        List<NewArtifact> artifacts, List<NewProposal> proposals, @Nullable Verdict verdict,
        @Nullable TurnAnswer turn, @Nullable String input, @Nullable Long outputHash, @Nullable String asked,
        boolean estimated) {

    public Result {
        artifacts = List.copyOf(artifacts);
        proposals = List.copyOf(proposals);
    }

    /** A result with all of its tokens. */
    public Result(String output, Tokens tokens, @Nullable BigDecimal cost, @Nullable String model,
            List<NewArtifact> artifacts, List<NewProposal> proposals, @Nullable Verdict verdict,
            @Nullable TurnAnswer turn, @Nullable String input, @Nullable Long outputHash, @Nullable String asked) {
        this(output, tokens, cost, model, artifacts, proposals, verdict, turn, input, outputHash, asked, false);
    }

    /** A result of an executor that does not report the input. */
    public Result(String output, Tokens tokens, @Nullable BigDecimal cost, @Nullable String model,
            List<NewArtifact> artifacts, List<NewProposal> proposals, @Nullable Verdict verdict,
            @Nullable TurnAnswer turn) {
        this(output, tokens, cost, model, artifacts, proposals, verdict, turn, null, null, null);
    }

    /** A result without proposals. */
    public Result(String output, Tokens tokens, @Nullable BigDecimal cost, @Nullable String model,
            List<NewArtifact> artifacts, @Nullable Verdict verdict, @Nullable TurnAnswer turn) {
        this(output, tokens, cost, model, artifacts, List.of(), verdict, turn);
    }

    /** A result of a step that is not an agent's turn. */
    public Result(String output, Tokens tokens, @Nullable BigDecimal cost, @Nullable String model,
            List<NewArtifact> artifacts, @Nullable Verdict verdict) {
        this(output, tokens, cost, model, artifacts, verdict, null);
    }

    /** A copy with another output. */
    public Result yielding(String json) {
        return new Result(json, tokens, cost, model, artifacts, proposals, verdict, turn, input, outputHash, asked,
                estimated);
    }

    /** A copy with the step's resolved input. */
    public Result withInput(@Nullable String json) {
        return new Result(output, tokens, cost, model, artifacts, proposals, verdict, turn, json, outputHash, asked,
                estimated);
    }

    /** A copy that names the model the step was to use. */
    public Result insteadOf(@Nullable String other) {
        return new Result(output, tokens, cost, model, artifacts, proposals, verdict, turn, input, outputHash, other,
                estimated);
    }

    /** A copy with another usage. */
    public Result using(Tokens all, @Nullable BigDecimal itsCost, @Nullable String its, boolean estimate) {
        return new Result(output, all, itsCost, its, artifacts, proposals, verdict, turn, input, outputHash, asked,
                estimate);
    }

    /** A copy for a failure: its usage and its report. */
    public Result spent() {
        return new Result("null", tokens, cost, model, List.of(), List.of(), null, null, input, outputHash, asked,
                estimated);
    }

    /** A result of a step that does not verify, without a model. */
    public Result(String output, Tokens tokens, @Nullable BigDecimal cost, List<NewArtifact> artifacts) {
        this(output, tokens, cost, null, artifacts, null);
    }

    /** A result without tokens and cost. */
    public static Result of(String output) {
        return new Result(output, Tokens.NONE, null, List.of());
    }

    /** This result with other tokens. */
    public Result using(Tokens other) {
        return new Result(output, other, cost, model, artifacts, proposals, verdict, turn, input, outputHash, asked,
                estimated);
    }

    /** A copy with these artifacts. */
    public Result storing(List<NewArtifact> stored) {
        return new Result(output, tokens, cost, model, stored, proposals, verdict, turn, input, outputHash, asked,
                estimated);
    }

    /** A copy that marks whether some of its tokens are an upper bound. */
    public Result estimated(boolean is) {
        return new Result(output, tokens, cost, model, artifacts, proposals, verdict, turn, input, outputHash, asked,
                is);
    }

    /** A failed try: its usage only. */
    public static Result spent(Tokens tokens, @Nullable BigDecimal cost, @Nullable String model) {
        return new Result("null", tokens, cost, model, List.of(), null);
    }
}
