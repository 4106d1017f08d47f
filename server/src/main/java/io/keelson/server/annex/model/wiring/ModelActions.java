package io.keelson.server.annex.model.wiring;

import io.keelson.api.work.ModelInfo;
import io.keelson.core.money.TokenPrices;
import io.keelson.server.annex.model.call.ProviderCheck;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceRow;
import io.keelson.server.tenant.money.PriceTable;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The models that this server calls, without keys and headers. */
final class ModelActions {

    private final WorkspaceModels models;
    private final PriceTable prices;
    private final ProviderCheck.Answers answers;

    ModelActions(WorkspaceModels models, PriceTable prices, ProviderCheck.Answers answers) {
        this.models = models;
        this.prices = prices;
        this.answers = answers;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/models", this::list);
        table.post(Scope.OPERATOR, "/models/{name}/check", this::check);
    }

    private ApiResponse check(ApiRequest request) throws InterruptedException {
        String name = request.pathText("name");
        ConfiguredModel model =
                models.configured().find(name).orElseThrow(() -> ApiProblem.of(ErrorCode.MODEL_NOT_FOUND,
                        "this server calls no model '" + Excerpt.piece(name) + "'"));
        ProviderCheck.Probe probe = answers.of(model.endpoint());
        return ApiResponse.ok(Json.document(new ModelInfo.Check(name,
                probe.outcome() == ProviderCheck.Outcome.OK, probe.detail(), probe.millis())));
    }

    private ApiResponse list(ApiRequest request) {
        ListPage page = new ListPage(request, "models");
        List<ConfiguredModel> all = models.configured().all();
        if (all.isEmpty()) {
            return page.of(List.of());
        }
        Map<String, TokenPrices> priced = new HashMap<>();
        for (PriceRow row : prices.current().prices()) {
            TokenPrices usd = row.usdPerMillion();
            if (row.kind() == PriceKind.MODEL && usd != null) {
                priced.put(row.name(), usd);
            }
        }
        Optional<List<String>> allowed = models.allowed(request.workspace());
        boolean operator = request.has(Scope.OPERATOR);
        return page.of(all.stream().map(model -> document(model, priced.get(model.name()),
                allowed.map(names -> names.contains(model.name())).orElse(true), operator)).toList());
    }

    private static ObjectNode document(ConfiguredModel model, @Nullable TokenPrices usd, boolean allowed,
            boolean operator) {
        return Json.document(new ModelInfo(model.name(), allowed, model.family(), model.wire().wire(), model.model(),
                operator ? model.baseUrl().toString() : null, model.contextTokens(), model.maxOutputTokens(),
                Json.plain(model.bytesPerToken()), usd == null ? null : apiPrices(usd), model.fallback(),
                Math.toIntExact(model.fallbackAfter().toSeconds())));
    }

    private static io.keelson.api.money.TokenPrices apiPrices(TokenPrices usd) {
        return new io.keelson.api.money.TokenPrices(Json.plain(usd.input()), plain(usd.cacheRead()),
                plain(usd.cacheWrite()), Json.plain(usd.output()));
    }

    private static @Nullable BigDecimal plain(@Nullable BigDecimal number) {
        return number == null ? null : Json.plain(number);
    }
}
