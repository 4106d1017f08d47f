package io.keelson.server.engine.tool;

import io.keelson.core.money.Tokens;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * The cost of a call, whether it succeeded or failed.
 *
 * @param model that used the tokens; null when none did
 * @param cost in credits, never negative; null when the tool does not report it, and prices decide
 * @param asked the model that was to be used, where another one was; null where none was
 * @param estimated whether some of the tokens are an upper bound, as their provider has not reported them
 */
public record ToolUsage(@Nullable String model, Tokens tokens, @Nullable BigDecimal cost,
        @Nullable String asked, boolean estimated) {

    /** The usage of the model that was requested. */
    public ToolUsage(@Nullable String model, Tokens tokens, @Nullable BigDecimal cost) {
        this(model, tokens, cost, null, false);
    }

    /** No tokens; prices decide about the cost. */
    public static final ToolUsage NONE = new ToolUsage(null, Tokens.NONE, null);

    /** The call was not made: it costs nothing, also where its tool has a price. */
    public static final ToolUsage NOT_MADE = new ToolUsage(null, Tokens.NONE, BigDecimal.ZERO);

    /** This and more of the same model. */
    public ToolUsage plus(ToolUsage more) {
        return more.tokens.none() ? this
                : new ToolUsage(more.model, tokens.plus(more.tokens), null, more.asked, estimated || more.estimated);
    }
}
