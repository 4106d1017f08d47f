package io.keelson.server.api.http.admin;

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
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Workspaces for operators, and a workspace's own limits. */
public final class WorkspaceActions {

    private static final String FOLDERS = "allowed_folders";

    /** New limits: null leaves one unchanged, empty removes it. */
    record NewLimits(@Nullable Optional<Long> openRuns, @Nullable Optional<Long> steps,
            @Nullable Optional<Long> runsPerMinute, @Nullable Optional<Long> storageBytes,
            @Nullable Optional<Long> requestsPerMinute, @Nullable Optional<BigDecimal> usdPerMonth,
            Map<String, Optional<Long>> tools, Map<String, Optional<Long>> models) {

        /** The given limits, by their names in the table. */
        Map<String, Optional<BigDecimal>> byName() {
            Map<String, Optional<BigDecimal>> limits = new TreeMap<>();
            put(limits, "open_runs", openRuns);
            put(limits, "steps", steps);
            put(limits, "runs_per_minute", runsPerMinute);
            put(limits, "storage_bytes", storageBytes);
            put(limits, "requests_per_minute", requestsPerMinute);
            if (usdPerMonth != null) {
                limits.put(Limits.USD_PER_MONTH, usdPerMonth.map(Amounts::of));
            }
            tools.forEach((name, limit) -> put(limits, Limits.TOOL + name, limit));
            models.forEach((name, limit) -> put(limits, Limits.MODEL + name, limit));
            return limits;
        }

        private static void put(Map<String, Optional<BigDecimal>> limits, String name,
                @Nullable Optional<Long> limit) {
            if (limit != null) {
                limits.put(name, limit.map(BigDecimal::valueOf));
            }
        }
    }

    record NewWorkspace(String name, @Nullable NewLimits limits, @Nullable Optional<List<String>> allowedFolders,
            @Nullable Optional<List<String>> allowedModels, @Nullable Optional<List<String>> allowedTools,
            @Nullable List<String> deniedTools, @Nullable Optional<String> defaultAutonomy) {}

    /** Absent members stay unchanged. */
    record WorkspaceChange(@Nullable String name, @Nullable NewLimits limits,
            @Nullable Optional<List<String>> allowedFolders, @Nullable Optional<List<String>> allowedModels,
            @Nullable Optional<List<String>> allowedTools, @Nullable List<String> deniedTools,
            @Nullable Optional<String> defaultAutonomy) {}

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
        table.post(Scope.OPERATOR, "/workspaces", NewWorkspace.class, this::create);
        table.get(Scope.OPERATOR, "/workspaces/{id}", this::one);
        table.patch(Scope.OPERATOR, "/workspaces/{id}", WorkspaceChange.class, this::change);
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
        ObjectNode document = document(Reads.found(workspaces.find(id), IdKind.WORKSPACE, id));
        document.set("use", reads.read((runs, c) -> runs.use(c, id)));
        return ApiResponse.resource(document);
    }

    private ApiResponse limits(ApiRequest request) {
        UUID id = request.workspace();
        WorkspaceRow workspace = workspaces.find(id).orElseThrow();
        ObjectNode document = Json.object().put("workspace_id", id.toString());
        document.set("limits", document(workspace.limits()));
        document.set("use", reads.read((runs, c) -> runs.use(c, id)));
        return ApiResponse.ok(document);
    }

    private ApiResponse create(ApiRequest request, NewWorkspace body) {
        Map<String, Optional<BigDecimal>> limits = body.limits == null ? Map.of() : body.limits.byName();
        WorkspaceStore.Change settings = new WorkspaceStore.Change(null, limits, folders(body.allowedFolders),
                models(body.allowedModels), tools(body.allowedTools), body.deniedTools, autonomy(body.defaultAutonomy));
        UUID id = ids.next();
        ApiResponse response = transaction.answer(request, c -> {
            WorkspaceRow made = row(workspaces.create(c, id, body.name, settings, request.origin()), id);
            return ApiResponse.created("/api/v1/workspaces/" + made.id(), document(made));
        });
        limitsChanged(limits);
        return response;
    }

    private void limitsChanged(Map<String, Optional<BigDecimal>> limits) {
        if (!limits.isEmpty()) {
            limited.run();
        }
    }

    private ApiResponse change(ApiRequest request, WorkspaceChange body) {
        Map<String, Optional<BigDecimal>> limits = body.limits == null ? Map.of() : body.limits.byName();
        WorkspaceStore.Change change = new WorkspaceStore.Change(body.name, limits, folders(body.allowedFolders),
                models(body.allowedModels), tools(body.allowedTools), body.deniedTools, autonomy(body.defaultAutonomy));
        UUID id = request.id("id", IdKind.WORKSPACE);
        WorkspaceRow changed = row(workspaces.change(id, change, request.origin()), id);
        if (changed.closed()) {
            throw ApiProblem.of(ErrorCode.WORKSPACE_NOT_OPEN, "the workspace is closed");
        }
        limitsChanged(limits);
        return ApiResponse.ok(document(changed));
    }

    private static WorkspaceRow row(WorkspaceResult result, UUID id) {
        return switch (result) {
            case WorkspaceResult.Is(WorkspaceRow row) -> row;
            case WorkspaceResult.NameTaken(UUID by) -> throw ApiProblem.of(ErrorCode.WORKSPACE_NAME_TAKEN,
                    "workspace " + by + " has this name").with("workspace_id", by.toString());
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
        ObjectNode document = Json.object().put("id", workspace.id().toString()).put("name", workspace.name())
                .put("state", state(workspace))
                .put("created_at", Json.time(workspace.createdAt()))
                .put("closed_at", Json.time(workspace.closedAt()))
                .put("purged_rows", workspace.purge().rows());
        document.set("limits", document(workspace.limits()));
        put(document, FOLDERS, workspace.folders());
        put(document, "allowed_models", workspace.models());
        put(document, "allowed_tools", workspace.tools().allowed());
        put(document, "denied_tools", workspace.tools().denied());
        Autonomy autonomy = workspace.autonomy();
        document.put("default_autonomy", autonomy == null ? null : autonomy.wire());
        return document;
    }

    private static void put(ObjectNode document, String name, @Nullable List<String> texts) {
        if (texts == null) {
            document.putNull(name);
        } else {
            texts.forEach(document.putArray(name)::add);
        }
    }

    private static ObjectNode document(Limits limits) {
        ObjectNode document = Json.object();
        Limits.NAMES.forEach(name -> document.put(name, limits.of(name)));
        document.put(Limits.USD_PER_MONTH, limits.usdPerMonth());
        named(document.putObject("tools"), limits, Limits.TOOL);
        named(document.putObject("models"), limits, Limits.MODEL);
        return document;
    }

    private static void named(ObjectNode document, Limits limits, String prefix) {
        limits.byName().entrySet().stream().filter(limit -> limit.getKey().startsWith(prefix))
                .sorted(Map.Entry.comparingByKey())
                .forEach(limit -> document.put(limit.getKey().substring(prefix.length()),
                        limit.getValue().longValueExact()));
    }
}
