package io.keelson.client;

import io.keelson.api.money.TokenPrices;
import java.math.BigDecimal;
import tools.jackson.databind.node.ObjectNode;

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
        return change("tool", name, Json.object().put("usd_per_call", usdPerCall));
    }

    /** Sets the prices of a model for future charges. */
    public PriceList setModel(String name, TokenPrices usdPerMillionTokens) {
        ObjectNode price = Json.object();
        ObjectNode parts = (ObjectNode) Json.document(usdPerMillionTokens);
        parts.removeNulls();
        price.set("usd_per_million_tokens", parts);
        return change("model", name, price);
    }

    /** Removes a tool's price. Its steps are then charged their reported cost, or nothing. */
    public PriceList removeTool(String name) {
        return change("tool", name, Json.object().put("withdrawn", true));
    }

    /** Plans that name the model are refused from now on. */
    public PriceList removeModel(String name) {
        return change("model", name, Json.object().put("withdrawn", true));
    }

    private PriceList change(String kind, String name, ObjectNode price) {
        ObjectNode body = Json.object();
        body.putArray("items").add(price.put("kind", kind).put("name", name));
        return Json.document(api.send(Call.put(PATH, body)).body(), PriceList.class);
    }
}
