package io.keelson.server.api.http.admin;

import io.keelson.api.tenant.LimitName;
import io.keelson.api.tenant.LimitsAndUse;
import io.keelson.api.tenant.Workspace;
import io.keelson.api.tenant.WorkspaceLimits;
import io.keelson.api.tenant.WorkspaceUse;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.Autonomy;
import io.keelson.core.run.Ids;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.purge.WorkspacePurger;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.workspace.Limits;
import io.keelson.server.tenant.workspace.WorkspaceResult;
import io.keelson.server.tenant.workspace.WorkspaceRow;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Workspaces for operators, and a workspace's own limits. */
public final class WorkspaceActions {

    private static final String FOLDERS = "allowed_folders";

    private final WorkspaceStore workspaces;
    private final Reads reads;
    private final WorkspacePurger purger;
    private final Ids ids;
    private final KeyedTransaction transaction;
    private final Runnable limited;

    /** @param limited called when limits have changed */
    public WorkspaceActions(WorkspaceStore workspaces, Reads reads, WorkspacePurger purger, Ids ids,
            KeyedTransaction transaction, Runnable limited) {
        this.workspaces = workspaces;
        this.reads = reads;
        this.purger = purger;
        this.ids = ids;
        this.transaction = transaction;
        this.limited = limited;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.OPERATOR, "/workspaces", this::list);
        table.post(Scope.OPERATOR, "/workspaces", Workspace.Change.class, this::create);
        table.get(Scope.OPERATOR, "/workspaces/{id}", this::one);
        table.patch(Scope.OPERATOR, "/workspaces/{id}", Workspace.Change.class, this::change);
        table.post(Scope.OPERATOR, "/workspaces/{id}/close", this::close);
        table.delete(Scope.OPERATOR, "/workspaces/{id}", this::delete);
        table.get(Scope.RUNS_READ, "/limits", this::limits);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        ListCursor cursor = new ListCursor("workspaces");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        List<WorkspaceRow> found = workspaces.list(after, limit + 1);
        return ApiResponse.ok(Lists.page(found.stream().limit(limit).map(WorkspaceActions::document).toList(),
                found.size() <= limit ? null : cursor.write(found.get(limit - 1).id().toString())));
    }

    private ApiResponse one(ApiRequest request) {
        UUID id = request.id("id", IdKind.WORKSPACE);
        WorkspaceRow found = Reads.found(workspaces.find(id), IdKind.WORKSPACE, id);
        return ApiResponse.resource(document(found, reads.read((runs, c) -> runs.use(c, id))));
    }

    private ApiResponse limits(ApiRequest request) {
        UUID id = request.workspace();
        return ApiResponse.ok(Json.document(new LimitsAndUse(id.toString(),
                limits(workspaces.find(id).orElseThrow().limits()), reads.read((runs, c) -> runs.use(c, id)))));
    }

    private ApiResponse create(ApiRequest request, Workspace.Change body) {
        WorkspaceStore.Change settings = change(body, null);
        UUID id = ids.next();
        ApiResponse response = transaction.answer(request, c -> {
            WorkspaceRow made =
                    row(workspaces.create(c, id, Objects.requireNonNull(body.name()), settings, request.origin()), id);
            return ApiResponse.created("/api/v1/workspaces/" + made.id(), document(made));
        });
        limitsChanged(settings);
        return response;
    }

    private void limitsChanged(WorkspaceStore.Change change) {
        if (!change.limits().isEmpty()) {
            limited.run();
        }
    }

    private static WorkspaceStore.Change change(Workspace.Change body, @Nullable String name) {
        return new WorkspaceStore.Change(name, body.limits() == null ? Map.of() : byName(body.limits()),
                folders(body.allowedFolders()), models(body.allowedModels()), tools(body.allowedTools()),
                body.deniedTools(), autonomy(body.defaultAutonomy()));
    }

    /** The given limits, by their names in the table; empty for a limit to be removed. */
    private static Map<String, Optional<BigDecimal>> byName(WorkspaceLimits.Change given) {
        Map<String, Optional<BigDecimal>> limits = new TreeMap<>();
        put(limits, LimitName.OPEN_RUNS, given.openRuns());
        put(limits, LimitName.STEPS, given.steps());
        put(limits, LimitName.RUNS_PER_MINUTE, given.runsPerMinute());
        put(limits, LimitName.STORAGE_BYTES, given.storageBytes());
        put(limits, LimitName.REQUESTS_PER_MINUTE, given.requestsPerMinute());
        put(limits, LimitName.STEPS_PER_MINUTE, given.stepsPerMinute());
        if (given.usdPerMonth() != null) {
            limits.put(LimitName.USD_PER_MONTH.text(), given.usdPerMonth().map(Amounts::of));
        }
        put(limits, LimitName.TOOL, given.tools());
        put(limits, LimitName.MODEL, given.models());
        put(limits, LimitName.TOOL_PER_MINUTE, given.toolsPerMinute());
        put(limits, LimitName.MODEL_PER_MINUTE, given.modelsPerMinute());
        put(limits, LimitName.MODEL_TOKENS_PER_MINUTE, given.modelTokensPerMinute());
        put(limits, LimitName.AGENT_PER_MINUTE, given.agentsPerMinute());
        return limits;
    }

    private static void put(Map<String, Optional<BigDecimal>> limits, LimitName name,
            @Nullable Optional<Long> limit) {
        if (limit != null) {
            limits.put(name.text(), limit.map(BigDecimal::valueOf));
        }
    }

    private static void put(Map<String, Optional<BigDecimal>> limits, LimitName name,
            Map<String, Optional<Long>> given) {
        given.forEach((of, limit) -> limits.put(name.of(of), limit.map(BigDecimal::valueOf)));
    }

    private ApiResponse change(ApiRequest request, Workspace.Change body) {
        WorkspaceStore.Change change = change(body, body.name());
        UUID id = request.id("id", IdKind.WORKSPACE);
        WorkspaceRow changed = row(workspaces.change(id, change, request.origin()), id);
        if (changed.closed()) {
            throw ApiProblem.of(ErrorCode.WORKSPACE_NOT_OPEN, "the workspace is closed");
        }
        limitsChanged(change);
        return ApiResponse.ok(document(changed));
    }

    private static WorkspaceRow row(WorkspaceResult result, UUID id) {
        return switch (result) {
            case WorkspaceResult.Is(WorkspaceRow row) -> row;
            case WorkspaceResult.NameTaken(UUID by) -> throw ApiProblem.of(ErrorCode.WORKSPACE_NAME_TAKEN,
                    "workspace " + by + " has this name").with("workspace_id", by.toString());
            case WorkspaceResult.TooManyLimits t -> throw ApiProblem.of(ErrorCode.TOO_MANY_LIMITS,
                    "a workspace has at most " + WorkspaceStore.MAX_LIMITS + " limits");
            case WorkspaceResult.NoWorkspace n -> throw IdKind.WORKSPACE.notFound(id);
        };
    }

    /** @param allowedFolders null where they are not named, empty for the setting's */
    private static WorkspaceStore.@Nullable Folders folders(@Nullable Optional<List<String>> allowedFolders) {
        if (allowedFolders == null) {
            return null;
        }
        List<String> paths = allowedFolders.orElse(null);
        for (int i = 0; paths != null && i < paths.size(); i++) {
            if (!absolute(paths.get(i))) {
                throw ApiProblem.of("INVALID_VALUE", "/" + FOLDERS + "/" + i, "must be an absolute path on the server");
            }
        }
        return new WorkspaceStore.Folders(paths);
    }

    /** @param allowedModels null where they are not named, empty for all models */
    private static WorkspaceStore.@Nullable AllowedModels models(@Nullable Optional<List<String>> allowedModels) {
        return allowedModels == null ? null : new WorkspaceStore.AllowedModels(allowedModels.orElse(null));
    }

    /** @param allowedTools null where they are not named, empty for all tools */
    private static WorkspaceStore.@Nullable AllowedTools tools(@Nullable Optional<List<String>> allowedTools) {
        return allowedTools == null ? null : new WorkspaceStore.AllowedTools(allowedTools.orElse(null));
    }

    /** @param level null where it is not named, empty for the product's */
    private static WorkspaceStore.@Nullable DefaultAutonomy autonomy(@Nullable Optional<String> level) {
        return level == null ? null : new WorkspaceStore.DefaultAutonomy(level.map(Autonomy::of).orElse(null));
    }

    private static boolean absolute(String path) {
        try {
            return Path.of(path).isAbsolute();
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** Closes the workspace and cancels its open runs. A repeated call cancels the runs that are still open. */
    private ApiResponse close(ApiRequest request) {
        return ApiResponse.ok(document(closed(request)));
    }

    private WorkspaceRow closed(ApiRequest request) {
        UUID id = request.id("id", IdKind.WORKSPACE);
        if (id.equals(Bootstrap.DEFAULT_WORKSPACE)) {
            throw ApiProblem.of(ErrorCode.WORKSPACE_NOT_OPEN,
                    "the first workspace cannot be closed or deleted");
        }
        WorkspaceRow closed = Reads.found(workspaces.close(id, request.origin()), IdKind.WORKSPACE, id);
        purger.cancelAll(id, request.actor());
        return closed;
    }

    /** Closes the workspace, and removes its data in the background. Repeating the call changes nothing. */
    private ApiResponse delete(ApiRequest request) {
        WorkspaceRow closed = closed(request);
        purger.requests().request(closed.id(), request.origin());
        purger.signal();
        return ApiResponse.json(202, document(workspaces.find(closed.id()).orElse(closed)));
    }

    private static String state(WorkspaceRow workspace) {
        if (workspace.purge().requested()) {
            return workspace.purge().done() ? "deleted" : "deleting";
        }
        return workspace.closed() ? "closed" : "open";
    }

    private static ObjectNode document(WorkspaceRow workspace) {
        return document(workspace, null);
    }

    private static ObjectNode document(WorkspaceRow workspace, @Nullable WorkspaceUse use) {
        Autonomy autonomy = workspace.autonomy();
        return Json.document(new Workspace(workspace.id().toString(), workspace.name(), state(workspace),
                workspace.createdAt(), workspace.closedAt(), workspace.purge().rows(), limits(workspace.limits()),
                workspace.folders(), workspace.models(), workspace.tools().allowed(), workspace.tools().denied(),
                autonomy == null ? null : autonomy.wire(), use));
    }

    private static WorkspaceLimits limits(Limits limits) {
        return new WorkspaceLimits(limits.of(LimitName.OPEN_RUNS), limits.of(LimitName.STEPS),
                limits.of(LimitName.RUNS_PER_MINUTE), limits.of(LimitName.STORAGE_BYTES),
                limits.of(LimitName.REQUESTS_PER_MINUTE), limits.usdPerMonth(), limits.each(LimitName.TOOL),
                limits.each(LimitName.MODEL), limits.of(LimitName.STEPS_PER_MINUTE),
                limits.each(LimitName.TOOL_PER_MINUTE), limits.each(LimitName.MODEL_PER_MINUTE),
                limits.each(LimitName.MODEL_TOKENS_PER_MINUTE), limits.each(LimitName.AGENT_PER_MINUTE));
    }
}
