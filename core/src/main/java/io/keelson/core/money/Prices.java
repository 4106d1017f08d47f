package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The prices in force at a moment. A name that is absent has no price.
 *
 * @param tools of one call, by the tool's name
 * @param models of tokens, by the model's name
 */
public record Prices(Map<String, Price> tools, Map<String, ModelPrice> models) {

    public static final Prices NONE = new Prices(Map.of(), Map.of());

    /**
     * @param usd ≥ 0
     * @param version of the price list that it came with
     */
    public record Price(BigDecimal usd, int version) {}

    /** @param version of the price list that it came with */
    public record ModelPrice(TokenPrices usd, int version) {}

    /**
     * A calculated cost.
     *
     * @param amount in credits, {@linkplain Amounts#exact exact}
     * @param version of the price; null if absent
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
     * @param reported credits; null when the executor does not report it
     */
    public Cost cost(String tool, @Nullable String model, Tokens tokens, @Nullable BigDecimal reported) {
        if (reported != null) {
            return new Cost(Amounts.exact(reported), null);
        }
        ModelPrice ofModel = model == null ? null : models.get(model);
        if (ofModel != null && !tokens.none()) {
            return new Cost(ofModel.usd.cost(tokens), ofModel.version);
        }
        Price ofTool = tools.get(tool);
        return ofTool == null ? new Cost(Amounts.ZERO, null) : new Cost(Amounts.exact(ofTool.usd), ofTool.version);
    }

    /** True when a call used tokens whose cost neither its executor nor a price gives. */
    public boolean unpriced(String tool, @Nullable String model, Tokens tokens, @Nullable BigDecimal reported) {
        return !tokens.none() && reported == null && !tools.containsKey(tool)
                && (model == null || !models.containsKey(model));
    }

    /** The known cost of a call of the tool; zero when unknown. */
    public BigDecimal toolPrice(String tool) {
        Price price = tools.get(tool);
        return price == null ? Amounts.ZERO : Amounts.exact(price.usd);
    }

    /**
     * Whether tokens of one model cost more than the other model's tokens, as input or as output; false if a price is
     * missing.
     */
    public boolean dearer(String one, String other) {
        ModelPrice own = models.get(one);
        ModelPrice its = models.get(other);
        return own != null && its != null && (own.usd.input().compareTo(its.usd.input()) > 0
                || own.usd.output().compareTo(its.usd.output()) > 0);
    }

    /** The cost of tokens of the model; zero without a price. */
    public BigDecimal tokens(@Nullable String model, Tokens tokens) {
        ModelPrice price = model == null ? null : models.get(model);
        return price == null ? Amounts.ZERO : price.usd.cost(tokens);
    }
}
