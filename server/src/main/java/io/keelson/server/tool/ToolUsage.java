package io.keelson.server.tool;

import io.keelson.core.money.Tokens;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * The cost of a call, whether it succeeded or failed.
 *
 * @param model that used the tokens; null when none did
 * @param cost in USD, never negative; null when the tool does not report it, and prices decide
 * @param asked the model that was to be used, where another one was; null where none was
 */
public record ToolUsage(@Nullable String model, Tokens tokens, @Nullable BigDecimal cost,
        @Nullable String asked) {

    /** Of the model that was to be used. */
    public ToolUsage(@Nullable String model, Tokens tokens, @Nullable BigDecimal cost) {
        this(model, tokens, cost, null);
    }

    /** No tokens; prices decide about the cost. */
    public static final ToolUsage NONE = new ToolUsage(null, Tokens.NONE, null);
}
