package io.keelson.server.api.http.workers;

import io.keelson.api.work.ToolVersions;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.engine.store.queue.ToolVersionStore;
import io.keelson.server.engine.store.queue.ToolVersionStore.RefusedException;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.tenant.auth.Scope;

/** Rules about versions of workers: which of them gets the steps of a tool. */
public final class VersionActions {
    private static final int LONGEST_NAME = 200;

    private final Database database;
    private final ToolCatalog catalog;
    private final KeyedTransaction keyed;
    private final Runnable changed;
    private final ToolVersionStore versions = new ToolVersionStore(DbClock.DATABASE);

    /** @param changed has all servers read the rules */
    public VersionActions(Database database, ToolCatalog catalog, KeyedTransaction keyed, Runnable changed) {
        this.database = database;
        this.catalog = catalog;
        this.keyed = keyed;
        this.changed = changed;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/versions", this::list);
        table.get(Scope.RUNS_READ, "/versions/{tool}", this::show);
        table.post(Scope.ADMIN, "/versions/{tool}/promote", ToolVersions.Promotion.class, this::promote);
        table.post(Scope.ADMIN, "/versions/{tool}/rollback", this::rollback);
        table.delete(Scope.ADMIN, "/versions/{tool}", this::clear);
    }

    private ApiResponse list(ApiRequest request) {
        return new ListPage(request, "versions")
                .of(database.withConnection(c -> versions.list(c, request.workspace())).stream().map(Json::document)
                        .toList());
    }

    private ApiResponse show(ApiRequest request) {
        String tool = tool(request);
        return answer(database.withConnection(c -> versions.find(c, request.workspace(), tool))
                .orElseThrow(() -> notFound(tool)));
    }

    private ApiResponse promote(ApiRequest request, ToolVersions.Promotion promotion) {
        String tool = tool(request);
        if (tool.startsWith(ToolSpec.MCP)
                || catalog.all().stream().map(Tool::spec).anyMatch(spec -> spec.name().equals(tool))) {
            throw ApiProblem.of(ErrorCode.TOOL_OF_SERVER,
                    "no worker gets the steps of '" + tool + "': the server executes them");
        }
        return change(tool, () -> keyed.answer(request, c -> answer(versions.promote(c, request.workspace(),
                tool, promotion, request.origin(), check(request)))));
    }

    private ApiResponse rollback(ApiRequest request) {
        String tool = tool(request);
        return change(tool, () -> keyed.answer(request,
                c -> answer(versions.rollback(c, request.workspace(), tool, request.origin(), check(request)))));
    }

    private ApiResponse clear(ApiRequest request) {
        String tool = tool(request);
        return change(tool, () -> {
            if (!database.inTransaction(
                    c -> versions.clear(c, request.workspace(), tool, request.origin(), check(request)))) {
                throw notFound(tool);
            }
            return ApiResponse.empty(204);
        });
    }

    private interface Change {
        ApiResponse make();
    }

    private ApiResponse change(String tool, Change change) {
        try {
            ApiResponse response = change.make();
            changed.run();
            return response;
        } catch (RefusedException e) {
            throw switch (e.refusal()) {
                case NO_RULE -> notFound(tool);
                case NO_CURRENT -> ApiProblem.of(ErrorCode.NO_CURRENT_VERSION, "no version of '" + tool
                        + "' is current: promote the version of the present workers first, or 'unversioned' if they announce none");
                case ALREADY_CURRENT -> ApiProblem.of(ErrorCode.VERSION_ALREADY_CURRENT,
                        "the version is the current one of '" + tool + "', which gets all other runs");
                case NO_PREVIOUS -> ApiProblem.of(ErrorCode.NO_PREVIOUS_VERSION,
                        "'" + tool + "' has neither a ramping nor a previous version");
                case TOO_MANY -> ApiProblem.of(ErrorCode.VERSION_RULES_LIMIT_REACHED,
                        "a workspace has at most " + ToolVersionStore.MAX_RULES + " tools with a rule about versions");
            };
        }
    }

    private static ToolVersionStore.Check check(ApiRequest request) {
        return (revision, current) -> request.requireVersion(String.valueOf(revision), Json.document(current));
    }

    private static ApiResponse answer(ToolVersions versions) {
        return ApiResponse.resource(Json.document(versions), String.valueOf(versions.revision()));
    }

    private static String tool(ApiRequest request) {
        String name = request.pathText("tool");
        if (name.isBlank() || name.length() > LONGEST_NAME || !SafeText.clean(name).equals(name)) {
            throw ApiProblem.of(ErrorCode.INVALID_ID,
                    "'" + Excerpt.piece(name) + "' is not the name of a tool: 1 to " + LONGEST_NAME + " characters");
        }
        return name;
    }

    private static ApiProblem notFound(String tool) {
        return ApiProblem.of(ErrorCode.VERSION_RULE_NOT_FOUND, "'" + tool + "' has no rule about versions");
    }
}
