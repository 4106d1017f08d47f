package io.keelson.server.api.http.workers;

import io.keelson.api.Absent;
import io.keelson.api.work.ToolInfo;
import io.keelson.api.work.WorkerInfo;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.WorkspaceTools;
import io.keelson.server.tenant.auth.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Workers and their tools. */
public final class WorkerActions {

    private final Reads reads;
    private final RemoteDispatch work;
    private final ToolCatalog catalog;

    public WorkerActions(Reads reads, RemoteDispatch work, ToolCatalog catalog) {
        this.reads = reads;
        this.work = work;
        this.catalog = catalog;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/workers", this::workers);
        table.get(Scope.RUNS_READ, "/queue", this::queue);
        table.post(Scope.ADMIN, "/workers/{id}/drain", this::drain);
        table.get(Scope.RUNS_READ, "/tools", this::tools);
    }

    private ApiResponse workers(ApiRequest request) {
        return new ListPage(request, "workers")
                .of(workers(request.workspace()).stream().map(Json::document).toList());
    }

    private List<WorkerInfo> workers(UUID workspace) {
        return reads.read((runs, c) -> runs.workers(c, workspace));
    }

    private ApiResponse queue(ApiRequest request) {
        return Lists.wholeOf(reads.read((runs, c) -> runs.queue(c, request.workspace())));
    }

    private ApiResponse drain(ApiRequest request) {
        String worker = request.pathText("id");
        if (!work.drain(request.workspace(), worker)) {
            throw ApiProblem.of(ErrorCode.WORKER_NOT_FOUND, "no worker '" + Excerpt.piece(worker) + "'");
        }
        return ApiResponse.empty(204);
    }

    private ApiResponse tools(ApiRequest request) {
        ListPage page = new ListPage(request, "tools");
        List<ObjectNode> tools = new ArrayList<>();
        Set<String> served = new TreeSet<>();
        workers(request.workspace()).forEach(worker -> served.addAll(worker.tools()));
        for (Tool tool : catalog.in(request.workspace()).all()) {
            tools.add(document(request.workspace(), tool.spec()));
            served.remove(tool.spec().name());
        }
        Map<String, JsonNode> announced = work.announced(request.workspace());
        served.forEach(name -> tools.add(document(name, announced.getOrDefault(name, Json.object()))));
        return page.of(tools);
    }

    private ObjectNode document(UUID workspace, ToolSpec spec) {
        WorkspaceTools.Origin origin = catalog.ofWorkspaces().origin(workspace, spec.name());
        return Json.document(new ToolInfo(spec.name(), spec.description(),
                spec.name().startsWith(ToolSpec.MCP) ? "mcp" : "builtin", spec.effects().wire(),
                Math.toIntExact(spec.defaultTimeout().toSeconds()), "tool", spec.inputSchema(), spec.outputSchema(),
                origin == null ? null : new ToolInfo.Mcp(origin.server(), origin.state(), origin.trusted())));
    }

    /** A tool that only workers serve, with its announced description. */
    private static ObjectNode document(String name, JsonNode announced) {
        JsonNode schema = announced.path("input_schema");
        return Json.document(new ToolInfo(name, announced.path("description").stringValue(null), "worker",
                announced.path("effects").stringValue(null), null, "task",
                Absent.asNull(schema.isObject() ? schema : null),
                Absent.asNull(null), null));
    }
}
