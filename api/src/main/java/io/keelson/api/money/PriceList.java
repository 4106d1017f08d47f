package io.keelson.api.money;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The prices as they stood at a version.
 *
 * @param items prices by kind and name
 * @param nextCursor start of the next page; null on the last one
 * @param version rises with every change; 0 if no price was ever set
 */
public record PriceList(List<Price> items, @Nullable String nextCursor, int version) {

    public PriceList {
        items = Absent.asEmpty(items);
    }

    /**
     * Sets and withdraws prices.
     *
     * @param items prices to change, each with another kind or name
     */
    @Request
    public record Change(@Size(min = 1, max = 1000) List<Item> items) {}

    /**
     * A price to set or to withdraw.
     *
     * @param kind kind of the price
     * @param name name of the tool or model
     * @param usdPerCall price of a tool
     * @param usdPerMillionTokens prices of a model
     * @param withdrawn whether it has no price any more, instead of a price
     */
    @Request
    public record Item(@OneOf({"tool", "model"}) String kind,
            @Text(format = "name", pattern = "\\S", max = 200) String name,
            @Nullable @Ref("CallPrice") BigDecimal usdPerCall, @Nullable NewTokenPrices usdPerMillionTokens,
            @Default("false") boolean withdrawn) {}

    /**
     * Prices of a million tokens of a model. Input from the provider's cache and into it has the price of input if it has none
     * of its own.
     *
     * @param input of input that the provider's cache neither had nor kept
     * @param cacheRead of input from the provider's cache
     * @param cacheWrite of input that the provider's cache kept
     * @param output of output, reasoning included
     */
    @Request
    public record NewTokenPrices(@Ref("Amount") BigDecimal input, @Nullable @Ref("Amount") BigDecimal cacheRead,
            @Nullable @Ref("Amount") BigDecimal cacheWrite, @Ref("Amount") BigDecimal output) {}
}
