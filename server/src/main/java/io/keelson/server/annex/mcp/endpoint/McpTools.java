package io.keelson.server.annex.mcp.endpoint;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Lists the tools that the key's scopes allow, and refuses others. */
final class McpTools {
    private static final int PAGE = 100;
    private static final int OK = 200;
    private static final int SERVER_ERROR = 500;

    private final Map<String, OfferedTool> known = new LinkedHashMap<>();
    private final RecipeTools recipes;
    private final OfferedRunDocuments documents;
    private final McpTasks tasks;

    public McpTools(OfferedRunTools workspace, RecipeTools recipes, OfferedRunDocuments documents, McpTasks tasks) {
        workspace.list().forEach(tool -> known.put(tool.name(), tool));
        this.recipes = recipes;
        this.documents = documents;
        this.tasks = tasks;
    }

    ObjectNode list(Incoming incoming) {
        ListCursor cursor = new ListCursor("mcp tools");
        String after = cursor.read(incoming.cursor(), name -> name);
        ObjectNode result = Json.object();
        ArrayNode tools = result.putArray("tools");
        if (after == null) {
            known.values().stream().filter(tool -> incoming.request().has(tool.scope()))
                    .forEach(tool -> tools.add(tool.document(incoming)));
        }
        if (incoming.request().has(Scope.RUNS_WRITE)) {
            Page<OfferedTool> page = recipes.page(incoming.workspace(), after, PAGE);
            page.items().forEach(tool -> tools.add(tool.document(incoming)));
            if (page.more()) {
                result.put("nextCursor", cursor.write(page.last().name()));
            }
        }
        return Caching.hint(result, Caching.MINUTE);
    }

    ObjectNode call(Incoming incoming) throws IOException, InterruptedException {
        String name = incoming.text("name");
        OfferedTool tool = known.containsKey(name) ? known.get(name)
                : recipes.find(incoming.workspace(), name)
                        .orElseThrow(() -> RpcError.invalid("no tool '" + Excerpt.piece(name) + "'"));
        JsonNode given = incoming.params().path("arguments");
        if (!given.isObject() && !given.isMissingNode()) {
            throw RpcError.invalid("params.arguments must be an object");
        }
        ObjectNode arguments = given instanceof ObjectNode object ? object : Json.object();
        if (!incoming.modern() && incoming.takesTasks() && !tool.starts()) {
            throw new RpcError(OK, Mcp.METHOD_NOT_FOUND, "the tool '" + name + "' gives no tasks", null);
        }
        try {
            incoming.require(tool.scope());
            check(tool, arguments);
            return result(incoming, tool.handler().answer(incoming, arguments));
        } catch (ApiProblem problem) {
            if (problem.document().path("status").asInt(SERVER_ERROR) >= SERVER_ERROR) {
                throw problem;
            }
            return ToolResults.error(problem.document());
        }
    }

    private static void check(OfferedTool tool, ObjectNode arguments) {
        if (tool.check() != null) {
            List<PlanProblem> problems = tool.check().check(arguments).stream()
                    .map(flaw -> new PlanProblem("INVALID_VALUE", flaw.pointer(), flaw.message())).toList();
            if (!problems.isEmpty()) {
                throw ApiProblem.of(problems);
            }
        }
    }

    private ObjectNode result(Incoming incoming, OfferedTool.Outcome outcome) {
        return switch (outcome) {
            case OfferedTool.Outcome.Document(ObjectNode json) -> ToolResults.structured(json);
            case OfferedTool.Outcome.Run(var run) -> incoming.takesTasks() ? tasks.created(incoming, run)
                    : ToolResults.structured(documents.of(incoming.request(), run));
        };
    }
}
