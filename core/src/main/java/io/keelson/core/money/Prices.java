package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The prices in force at a moment. A name that is absent has no price.
 *
 * @param tools of one call, by the tool's name
 * @param models of a million tokens, by the model's name
 */
public record Prices(Map<String, Price> tools, Map<String, Price> models) {

    public static final Prices NONE = new Prices(Map.of(), Map.of());

    private static final int MILLION = 6;

    /**
     * @param usd ≥ 0
     * @param version of the price list that it came with
     */
    public record Price(BigDecimal usd, int version) {}

    /**
     * A calculated cost.
     *
     * @param version of the price; null for none
     */
    public record Cost(BigDecimal amount, @Nullable Integer version) {}

    public Prices {
        tools = Map.copyOf(tools);
        models = Map.copyOf(models);
    }

    /**
     * The cost of a call: the executor's report, else its tokens by the model's price, else the tool's price, else
     * zero.
     *
     * @param model null when none was named
     * @param reported USD; null when the executor does not report it
     */
    public Cost cost(String tool, @Nullable String model, long tokens, @Nullable BigDecimal reported) {
        if (reported != null) {
            return new Cost(Amounts.of(reported), null);
        }
        Price ofModel = model == null ? null : models.get(model);
        if (ofModel != null && tokens > 0) {
            return new Cost(tokens(ofModel, tokens), ofModel.version);
        }
        Price ofTool = tools.get(tool);
        return ofTool == null ? new Cost(Amounts.ZERO, null) : new Cost(Amounts.of(ofTool.usd), ofTool.version);
    }

    /** True when a call used tokens whose cost neither its executor nor a price gives. */
    public boolean unpriced(String tool, @Nullable String model, long tokens, @Nullable BigDecimal reported) {
        return tokens > 0 && reported == null && !tools.containsKey(tool)
                && (model == null || !models.containsKey(model));
    }

    /** The known cost of a call of the tool; zero when unknown. */
    public BigDecimal known(String tool) {
        Price price = tools.get(tool);
        return price == null ? Amounts.ZERO : Amounts.of(price.usd);
    }

    /** The cost of that many tokens of the model; zero without a price. */
    public BigDecimal tokens(@Nullable String model, long tokens) {
        Price price = model == null ? null : models.get(model);
        return price == null ? Amounts.ZERO : tokens(price, tokens);
    }

    private static BigDecimal tokens(Price price, long tokens) {
        return Amounts.of(price.usd.multiply(BigDecimal.valueOf(tokens)).movePointLeft(MILLION));
    }
}
