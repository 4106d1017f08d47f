package io.keelson.server.api.http.admin;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.auth.Scope;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Actions of operators and administrators. */
public final class AuditActions {

    private final AuditLog auditLog;

    public AuditActions(AuditLog auditLog) {
        this.auditLog = auditLog;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.OPERATOR, "/audit", this::list);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        UUID workspace = query.id("workspace_id");
        ListCursor cursor = new ListCursor("audit");
        Long before = cursor.read(query, Long::valueOf);
        int limit = query.limit();
        Page<AuditLog.Entry> found = auditLog.list(workspace, before, limit);
        return ApiResponse.ok(Lists.page(found, cursor, entry -> Long.toString(entry.id()), AuditActions::document));
    }

    private static ObjectNode document(AuditLog.Entry entry) {
        ObjectNode document = Json.object().put("id", entry.id()).put("created_at", Json.time(entry.at()))
                .put("actor_type", entry.actorKind()).put("actor_id", entry.actor())
                .put("key_id", entry.keyId() == null ? null : entry.keyId().toString())
                .put("from_address", entry.fromAddress()).put("action", entry.action())
                .put("workspace_id", entry.workspaceId() == null ? null : entry.workspaceId().toString())
                .put("subject", entry.subject());
        document.set("detail", Json.read(entry.detail().getBytes(StandardCharsets.UTF_8)));
        return document;
    }
}
