package io.keelson.server.api.http.admin;

import io.keelson.api.tenant.AuditEntry;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Page;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.auth.Scope;
import java.util.UUID;

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
        Page<AuditEntry> found = auditLog.list(workspace, before, limit);
        return ApiResponse.ok(Lists.page(found, cursor, entry -> Long.toString(entry.id())));
    }
}
