package io.keelson.server.api.http.billing;

import io.keelson.api.money.Price;
import io.keelson.api.money.PriceList;
import io.keelson.core.money.TokenPrices;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.money.PriceChange;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceListVersion;
import io.keelson.server.tenant.money.PriceRow;
import io.keelson.server.tenant.money.PriceTable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** The price list of this installation. */
public final class PriceActions {

    private static final int NOW = -1;

    private final PriceTable prices;
    private final Runnable changed;

    /** @param changed called when prices have changed */
    public PriceActions(PriceTable prices, Runnable changed) {
        this.changed = changed;
        this.prices = prices;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.CREDITS_READ, "/prices", this::list);
        table.put(Scope.OPERATOR, "/prices", PriceList.Change.class, this::change);
    }

    private ApiResponse list(ApiRequest request) {
        int version = (int) request.query().integer("version", NOW);
        ListPage page = new ListPage(request, "prices " + version);
        PriceListVersion list = version == NOW ? prices.current() : prices.at(version);
        if (version > list.version()) {
            throw Query.invalid("version", "is above the current version of the price list, " + list.version());
        }
        return ApiResponse.resource(page.page(list.prices().stream().map(PriceActions::document).toList())
                .put("version", list.version()), String.valueOf(list.version()));
    }

    private ApiResponse change(ApiRequest request, PriceList.Change body) {
        List<PriceChange> changes = new ArrayList<>();
        Set<String> named = new HashSet<>();
        for (int i = 0; i < body.items().size(); i++) {
            PriceChange change = change(body.items().get(i), "/items/" + i + "/");
            if (!named.add(change.kind() + " " + change.name())) {
                throw ApiProblem.of("DUPLICATE_NAME", "/items/" + i + "/name", "the list sets this price twice");
            }
            changes.add(change);
        }
        PriceListVersion list = prices.change(changes, String.valueOf(request.actor().id()), recorded(request),
                current -> request.requireVersion(String.valueOf(current.version()), document(current)));
        changed.run();
        return ApiResponse.resource(document(list), String.valueOf(list.version()));
    }

    /** A price or {@code "withdrawn": true}: what takes a price away is said, not left out. */
    private static PriceChange change(PriceList.Item price, String at) {
        boolean tool = price.kind().equals(PriceKind.TOOL.wire());
        PriceKind kind = tool ? PriceKind.TOOL : PriceKind.MODEL;
        Object usd = tool ? price.usdPerCall() : price.usdPerMillionTokens();
        if ((tool ? price.usdPerMillionTokens() : price.usdPerCall()) != null) {
            throw ApiProblem.of("INVALID_VALUE", at + member(tool ? PriceKind.MODEL : PriceKind.TOOL),
                    "the price of a " + price.kind() + " is " + member(kind));
        }
        if (price.withdrawn() == (usd != null)) {
            throw ApiProblem.of("REQUIRED", at + member(kind), "either a price or withdrawn must be given");
        }
        return new PriceChange(kind, price.name(), price.usdPerCall(),
                price.usdPerMillionTokens() == null ? null : prices(price.usdPerMillionTokens()));
    }

    /** Writes the new prices to the audit log, by kind and name; null for a withdrawn price. */
    private static PriceTable.Witness recorded(ApiRequest request) {
        return (c, version, changes) -> {
            ObjectNode detail = Json.object();
            changes.forEach(change -> detail.set(change.kind().wire() + " " + change.name(),
                    usd(change.usdPerCall(), change.usdPerMillion())));
            AuditLog.write(c, request.origin(), "prices_changed", request.workspace(), Integer.toString(version),
                    detail);
        };
    }

    private static TokenPrices prices(PriceList.NewTokenPrices given) {
        return new TokenPrices(given.input(), given.cacheRead(), given.cacheWrite(), given.output());
    }

    /** JSON null if absent. */
    private static JsonNode usd(@Nullable BigDecimal perCall, @Nullable TokenPrices perMillion) {
        if (perMillion != null) {
            return Json.document(apiPrices(perMillion));
        }
        return perCall == null ? NullNode.getInstance() : DecimalNode.valueOf(Json.plain(perCall));
    }

    private static io.keelson.api.money.TokenPrices apiPrices(TokenPrices prices) {
        return new io.keelson.api.money.TokenPrices(Json.plain(prices.input()), plain(prices.cacheRead()),
                plain(prices.cacheWrite()), Json.plain(prices.output()));
    }

    private static @Nullable BigDecimal plain(@Nullable BigDecimal usd) {
        return usd == null ? null : Json.plain(usd);
    }

    private static String member(PriceKind kind) {
        return kind == PriceKind.TOOL ? "usd_per_call" : "usd_per_million_tokens";
    }

    private static ObjectNode document(PriceListVersion list) {
        return Lists.page(list.prices().stream().map(PriceActions::document).toList(), null)
                .put("version", list.version());
    }

    private static ObjectNode document(PriceRow price) {
        TokenPrices tokens = price.usdPerMillion();
        return Json.document(new Price(price.kind().wire(), price.name(), plain(price.usdPerCall()),
                tokens == null ? null : apiPrices(tokens), price.version(), price.createdAt(), price.createdBy()));
    }
}
