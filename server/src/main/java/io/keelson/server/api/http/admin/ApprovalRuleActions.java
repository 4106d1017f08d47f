package io.keelson.server.api.http.admin;

import io.keelson.api.tenant.ApprovalRule;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ETag;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.workspace.ApprovalRules;
import java.time.Instant;

/** The rule of a workspace about approvals, which its administrators set. */
public final class ApprovalRuleActions {

    private final ApprovalRules rules;

    public ApprovalRuleActions(ApprovalRules rules) {
        this.rules = rules;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/approval-rule", request -> answer(rules.find(request.workspace())));
        table.patch(Scope.ADMIN, "/approval-rule", ApprovalRule.Change.class, this::change);
    }

    private ApiResponse change(ApiRequest request, ApprovalRule.Change body) {
        return answer(rules.change(request.workspace(), body, request.actor().name(), request.origin(),
                current -> request.requireVersion(version(current), Json.document(current))));
    }

    private static ApiResponse answer(ApprovalRule rule) {
        return ApiResponse.resource(Json.document(rule), version(rule));
    }

    private static String version(ApprovalRule rule) {
        Instant at = rule.updatedAt();
        return at == null ? "0" : ETag.version(at);
    }
}
