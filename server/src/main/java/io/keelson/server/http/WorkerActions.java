package io.keelson.server.http;

import io.keelson.server.auth.Scope;
import io.keelson.server.engine.RemoteWork;
import io.keelson.server.tool.Tool;
import io.keelson.server.tool.ToolCatalog;
import io.keelson.server.tool.ToolSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** Who does the work, and what they can do. */
final class WorkerActions {

    private final Reads reads;
    private final RemoteWork work;
    private final ToolCatalog catalog;

    WorkerActions(Reads reads, RemoteWork work, ToolCatalog catalog) {
        this.reads = reads;
        this.work = work;
        this.catalog = catalog;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/workers", this::workers);
        table.post(Scope.ADMIN, "/workers/{id}/drain", this::drain);
        table.get(Scope.RUNS_READ, "/tools", this::tools);
    }

    private Answer workers(Call call) {
        return new Portion(call, "workers").of(workers(call.workspace()));
    }

    private List<ObjectNode> workers(UUID workspace) {
        return reads.read((runs, c) -> runs.workers(c, workspace));
    }

    private Answer drain(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        String worker = call.pathText("id");
        if (!work.drain(call.workspace(), worker)) {
            throw Refusal.of(ErrorCode.WORKER_NOT_FOUND, "no worker '" + Shown.piece(worker) + "'");
        }
        return Answer.empty(204);
    }

    private Answer tools(Call call) {
        Portion portion = new Portion(call, "tools");
        List<ObjectNode> tools = new ArrayList<>();
        Set<String> served = new TreeSet<>();
        workers(call.workspace()).forEach(worker -> worker.path("tools").forEach(tool -> served.add(tool.asString())));
        for (Tool tool : catalog.all()) {
            tools.add(document(tool.spec()));
            served.remove(tool.spec().name());
        }
        served.forEach(name -> tools.add(document(name)));
        return portion.of(tools);
    }

    private static ObjectNode document(ToolSpec spec) {
        ObjectNode document = Json.object().put("name", spec.name()).put("description", spec.description())
                .put("source", "builtin").put("default_timeout_seconds", spec.defaultTimeout().toSeconds());
        document.set("input_schema", spec.inputSchema());
        document.set("output_schema", spec.outputSchema());
        return document;
    }

    /** A tool that only workers serve: they say its name and nothing else. */
    private static ObjectNode document(String name) {
        ObjectNode document = Json.object().put("name", name).putNull("description").put("source", "worker")
                .putNull("default_timeout_seconds");
        document.set("input_schema", NullNode.getInstance());
        document.set("output_schema", NullNode.getInstance());
        return document;
    }
}
