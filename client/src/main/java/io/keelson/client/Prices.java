package io.keelson.client;

import io.keelson.api.money.PriceList;
import io.keelson.api.money.TokenPrices;
import java.math.BigDecimal;
import java.util.List;

/**
 * The installation's price list. Changes return the current list; a change without effect creates no version. Every
 * method throws {@link KeelsonException} by the rules of {@link Api}.
 */
public final class Prices {

    private static final String PATH = "/prices";

    private final Api api;

    Prices(Api api) {
        this.api = api;
    }

    /** Reads the current price list. */
    public PriceList current() {
        return Json.document(api.get(PATH), PriceList.class);
    }

    /** The list as it stood at that version, which an entry of the ledger may name. */
    public PriceList at(int version) {
        return Json.document(api.get(RequestPath.of(PATH).with("version", version).toString()), PriceList.class);
    }

    /** @param usdPerCall from 0, at most 12 decimal places */
    public PriceList setTool(String name, BigDecimal usdPerCall) {
        return change(new PriceList.Item("tool", name, usdPerCall, null, false));
    }

    /** Sets the prices of a model for future charges. */
    public PriceList setModel(String name, TokenPrices usd) {
        return change(new PriceList.Item("model", name, null,
                new PriceList.NewTokenPrices(usd.input(), usd.cacheRead(), usd.cacheWrite(), usd.output()), false));
    }

    /** Removes a tool's price. Its steps are then charged their reported cost, or nothing. */
    public PriceList removeTool(String name) {
        return change(new PriceList.Item("tool", name, null, null, true));
    }

    /** Plans that name the model are refused from now on. */
    public PriceList removeModel(String name) {
        return change(new PriceList.Item("model", name, null, null, true));
    }

    private PriceList change(PriceList.Item item) {
        return Json.document(
                api.send(Call.put(PATH, Json.request(new PriceList.Change(List.of(item))))).body(), PriceList.class);
    }
}
