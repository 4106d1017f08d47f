package io.keelson.client;

import io.keelson.api.money.Price;
import java.util.List;

/**
 * The prices as they stood at a version.
 *
 * @param version rises with every change; 0 when no price was ever set
 */
public record PriceList(int version, List<Price> items) {

    public PriceList {
        items = items == null ? List.of() : List.copyOf(items);
    }
}
