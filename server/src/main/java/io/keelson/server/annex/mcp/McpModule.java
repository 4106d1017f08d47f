package io.keelson.server.annex.mcp;

import io.keelson.server.annex.mcp.endpoint.McpEndpoint;
import io.keelson.server.annex.mcp.gateway.ToolGateway;
import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.secret.SecretStore;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Tools of MCP servers for workspaces, and Keelson as an MCP server: for keys of the API and for programs of steps. */
public final class McpModule implements ToolModule, InboxDecisions.WorkspaceQuestions {

    private final Database database;
    private final McpService service;
    private final ToolGateway gateway;
    private final String version;
    private volatile ToolCatalog catalog = ToolCatalog.EMPTY;

    /**
     * @param commands file with the commands that MCP servers may be started with; null if absent
     * @param version of this server, which it gives to others
     * @param programs parts for the calls of programs
     * @throws StartupException {@code MCP_SERVERS_FILE_INVALID} with all problems
     */
    public McpModule(@Nullable Path commands, Database database, OutboundClient outbound, SecretStore secrets,
            String version, ToolGateway.Sources programs) throws StartupException {
        this.database = database;
        this.version = version;
        this.gateway = new ToolGateway(database, programs);
        this.service = new McpService(database, McpConfiguration.read(commands), outbound, secrets,
                Path.of(System.getProperty("java.io.tmpdir")), version, System::nanoTime);
    }

    @Override
    public ToolCatalog tools(ToolCatalog before) {
        service.refresh();
        catalog = before.withWorkspaces(service);
        return catalog;
    }

    @Override
    public void start(Runnable changed) {
        service.start(changed);
    }

    @Override
    public List<BackgroundTask> tasks() {
        return List.of(service.task(), gateway.task());
    }

    @Override
    public void addTo(Route.Table table, ApiParts api) {
        new McpActions(service).addTo(table);
        McpEndpoint.of(api, database).addTo(table);
    }

    @Override
    public List<Mount> mounts(Commands commands) {
        return List.of(gateway.mount(commands, catalog, version));
    }

    @Override
    public boolean answer(UUID workspace, UUID change, boolean accept, @Nullable String reason, AuditOrigin origin) {
        return service.answer(workspace, change, accept, reason, origin);
    }

    @Override
    public void close() throws InterruptedException {
        gateway.close();
        service.close();
    }
}
