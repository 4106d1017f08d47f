package io.keelson.core.money;

/**
 * The most tokens that one call of a model may use. Who executes the call keeps within it.
 *
 * @param model by whose price the tokens are charged
 * @param maxInput tokens, cached ones included
 * @param maxOutput tokens, reasoning included
 * @param computed by its executor out of the step's resolved input; false where the plan says it
 */
public record WorstCase(String model, long maxInput, long maxOutput, boolean computed) {

    /** Tokens that a provider may add to a request: roles, separators and the like. */
    private static final long MARGIN = 1_000;

    /** A worst case from the plan. */
    public WorstCase(String model, long maxInput, long maxOutput) {
        this(model, maxInput, maxOutput, false);
    }

    /**
     * An upper bound of the next request's input without a tokenizer. A token of a byte-level vocabulary has at least one
     * byte.
     *
     * @param input tokens of the last request, as its provider reported them; 0 if absent
     * @param output tokens of the last answer; 0 if absent
     * @param newBytes UTF-8 bytes of the request's texts that the last request did not have, the last answer aside
     * @param bytesPerToken of the model, at least 1; above 1 the result is an estimate and no longer a bound
     */
    public static long maxInput(long input, long output, long newBytes, double bytesPerToken) {
        return input + output + (long) Math.ceil(newBytes / bytesPerToken) + MARGIN;
    }
}
