package io.keelson.server.http.admin;

import io.keelson.core.run.Ids;
import io.keelson.server.auth.Bootstrap;
import io.keelson.server.auth.Scope;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ApiResponse;
import io.keelson.server.http.support.ErrorCode;
import io.keelson.server.http.support.Fields;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Json;
import io.keelson.server.http.support.KeyedTransaction;
import io.keelson.server.http.support.ListCursor;
import io.keelson.server.http.support.Lists;
import io.keelson.server.http.support.Query;
import io.keelson.server.http.support.Reads;
import io.keelson.server.http.support.Route;
import io.keelson.server.purge.WorkspacePurger;
import io.keelson.server.workspace.Limits;
import io.keelson.server.workspace.WorkspaceResult;
import io.keelson.server.workspace.WorkspaceRow;
import io.keelson.server.workspace.WorkspaceStore;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What operators do with workspaces, and what a workspace may learn of its own limits. */
public final class WorkspaceActions {

    private static final int MAX_NAME = 255;
    private static final int MAX_TOOL = 220;
    private static final int MAX_TOOLS = 500;
    private static final int MAX_FOLDERS = 100;
    private static final int MAX_PATH = 4_096;
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
        table.post(Scope.OPERATOR, "/workspaces", this::create);
        table.get(Scope.OPERATOR, "/workspaces/{id}", this::one);
        table.patch(Scope.OPERATOR, "/workspaces/{id}", this::change);
        table.post(Scope.OPERATOR, "/workspaces/{id}/close", this::close);
        table.delete(Scope.OPERATOR, "/workspaces/{id}", this::delete);
        table.get(Scope.RUNS_READ, "/limits", this::limits);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        ListCursor cursor = new ListCursor("workspaces");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        query.done();
        List<WorkspaceRow> found = workspaces.list(after, limit + 1);
        return ApiResponse.ok(Lists.page(found.stream().limit(limit).map(WorkspaceActions::document).toList(),
                found.size() <= limit ? null : cursor.write(found.get(limit - 1).id().toString())));
    }

    private ApiResponse one(ApiRequest request) {
        request.query().done();
        UUID id = request.id("id", IdKind.WORKSPACE);
        ObjectNode document = document(Reads.found(workspaces.find(id), IdKind.WORKSPACE, id));
        document.set("use", reads.read((runs, c) -> runs.use(c, id)));
        return ApiResponse.resource(document);
    }

    private ApiResponse limits(ApiRequest request) {
        request.query().done();
        UUID id = request.workspace();
        WorkspaceRow workspace = workspaces.find(id).orElseThrow();
        ObjectNode document = Json.object().put("workspace_id", id.toString());
        document.set("limits", document(workspace.limits()));
        document.set("use", reads.read((runs, c) -> runs.use(c, id)));
        return ApiResponse.ok(document);
    }

    private ApiResponse create(ApiRequest request) throws IOException {
        request.query().done();
        Fields fields = request.fields();
        String name = fields.text("name", MAX_NAME);
        Map<String, Optional<Long>> limits = limits(fields);
        WorkspaceStore.Folders folders = folders(fields);
        fields.done();
        UUID id = ids.next();
        ApiResponse response = transaction.answer(request, c -> {
            WorkspaceRow made = row(workspaces.create(c, id, name, limits, folders, request.origin()), id);
            return ApiResponse.created("/api/v1/workspaces/" + made.id(), document(made));
        });
        tell(limits);
        return response;
    }

    private void tell(Map<String, Optional<Long>> limits) {
        if (!limits.isEmpty()) {
            limited.run();
        }
    }

    private ApiResponse change(ApiRequest request) throws IOException {
        request.query().done();
        Fields fields = request.fields();
        String name = fields.optionalText("name", MAX_NAME);
        if (name != null && name.isBlank()) {
            fields.problem("EMPTY", "name", "'name' may not be blank");
        }
        Map<String, Optional<Long>> limits = limits(fields);
        WorkspaceStore.Folders folders = folders(fields);
        fields.done();
        UUID id = request.id("id", IdKind.WORKSPACE);
        WorkspaceRow changed =
                row(workspaces.change(id, new WorkspaceStore.Change(name, limits, folders), request.origin()), id);
        if (changed.closed()) {
            throw ApiProblem.of(ErrorCode.WORKSPACE_NOT_OPEN, "the workspace is closed");
        }
        tell(limits);
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

    /** Null where the body does not name them. */
    private static WorkspaceStore.@Nullable Folders folders(Fields body) {
        if (body.clears(FOLDERS)) {
            return new WorkspaceStore.Folders(null);
        }
        if (body.value(FOLDERS) == null) {
            return null;
        }
        List<String> paths = body.optionalTexts(FOLDERS, MAX_FOLDERS, MAX_PATH);
        for (int i = 0; i < paths.size(); i++) {
            if (!absolute(paths.get(i))) {
                body.problem("INVALID_VALUE", FOLDERS + "/" + i, "must be an absolute path on the server");
            }
        }
        return new WorkspaceStore.Folders(paths);
    }

    private static boolean absolute(String path) {
        try {
            return Path.of(path).isAbsolute();
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** Those that are given, by their names in the table; a null takes one away. */
    private static Map<String, Optional<Long>> limits(Fields body) {
        Map<String, Optional<Long>> limits = new TreeMap<>();
        Fields given = body.object("limits");
        if (given != null) {
            Limits.NAMES.forEach(name -> limit(given, name, most -> limits.put(name, most)));
            named(given, "tools", Limits.TOOL, limits);
            named(given, "models", Limits.MODEL, limits);
        }
        return limits;
    }

    private static void named(Fields given, String member, String prefix, Map<String, Optional<Long>> limits) {
        Fields each = given.object(member);
        if (each == null) {
            return;
        }
        List<String> names = each.names();
        if (names.size() > MAX_TOOLS) {
            given.problem("TOO_MANY", member, "at most " + MAX_TOOLS + " " + member);
        }
        for (String name : names) {
            if (name.length() <= MAX_TOOL) {
                limit(each, name, most -> limits.put(prefix + name, most));
            }
        }
    }

    private static void limit(Fields fields, String name, Consumer<Optional<Long>> change) {
        Long most = fields.optionalInteger(name, 0, Long.MAX_VALUE);
        if (most != null) {
            change.accept(Optional.of(most));
        } else if (fields.clears(name)) {
            change.accept(Optional.empty());
        }
    }

    /** Closes the workspace and cancels its open runs. A repeated call cancels the runs that are still open. */
    private ApiResponse close(ApiRequest request) throws IOException {
        return ApiResponse.ok(document(closed(request)));
    }

    private WorkspaceRow closed(ApiRequest request) throws IOException {
        request.query().done();
        request.fields().done();
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
    private ApiResponse delete(ApiRequest request) throws IOException {
        WorkspaceRow closed = closed(request);
        purger.asks().ask(closed.id(), request.origin());
        purger.signal();
        return ApiResponse.json(202, document(workspaces.find(closed.id()).orElse(closed)));
    }

    private static String state(WorkspaceRow workspace) {
        if (workspace.purge().asked()) {
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
        if (workspace.folders() == null) {
            document.putNull(FOLDERS);
        } else {
            ArrayNode folders = document.putArray(FOLDERS);
            workspace.folders().forEach(folders::add);
        }
        return document;
    }

    private static ObjectNode document(Limits limits) {
        ObjectNode document = Json.object();
        Limits.NAMES.forEach(name -> document.put(name, limits.of(name)));
        named(document.putObject("tools"), limits, Limits.TOOL);
        named(document.putObject("models"), limits, Limits.MODEL);
        return document;
    }

    private static void named(ObjectNode document, Limits limits, String prefix) {
        limits.byName().entrySet().stream().filter(limit -> limit.getKey().startsWith(prefix))
                .sorted(Map.Entry.comparingByKey())
                .forEach(limit -> document.put(limit.getKey().substring(prefix.length()), limit.getValue()));
    }
}
