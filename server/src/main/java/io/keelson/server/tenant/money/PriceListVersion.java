package io.keelson.server.tenant.money;

import java.util.List;

/**
 * The prices of this installation as they stood at a version.
 *
 * @param version rises with every change; 0 when no price was ever set
 * @param prices by kind and name
 */
public record PriceListVersion(int version, List<PriceRow> prices) {

    public PriceListVersion {
        prices = List.copyOf(prices);
    }
}
