package io.keelson.server.http;

import io.keelson.core.run.Ids;
import io.keelson.server.auth.Bootstrap;
import io.keelson.server.auth.Limits;
import io.keelson.server.auth.Scope;
import io.keelson.server.auth.WorkspaceResult;
import io.keelson.server.auth.WorkspaceRow;
import io.keelson.server.auth.Workspaces;
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
final class WorkspaceActions {

    private static final int MAX_NAME = 255;
    private static final int MAX_TOOL = 220;
    private static final int MAX_TOOLS = 500;
    private static final int MAX_FOLDERS = 100;
    private static final int MAX_PATH = 4_096;
    private static final String FOLDERS = "allowed_folders";

    private final Workspaces workspaces;
    private final Reads reads;
    private final WorkspacePurger purger;
    private final Ids ids;
    private final KeyedTransaction transaction;
    private final Runnable limited;

    /** @param limited is told when limits have changed */
    WorkspaceActions(Workspaces workspaces, Reads reads, WorkspacePurger purger, Ids ids,
            KeyedTransaction transaction, Runnable limited) {
        this.workspaces = workspaces;
        this.reads = reads;
        this.purger = purger;
        this.ids = ids;
        this.transaction = transaction;
        this.limited = limited;
    }

    void addTo(Route.Table table) {
        table.get(Scope.OPERATOR, "/workspaces", this::list);
        table.post(Scope.OPERATOR, "/workspaces", this::create);
        table.get(Scope.OPERATOR, "/workspaces/{id}", this::one);
        table.patch(Scope.OPERATOR, "/workspaces/{id}", this::change);
        table.post(Scope.OPERATOR, "/workspaces/{id}/close", this::close);
        table.delete(Scope.OPERATOR, "/workspaces/{id}", this::delete);
        table.get(Scope.RUNS_READ, "/limits", this::limits);
    }

    private Answer list(Call call) {
        Query query = call.query();
        Cursor cursor = new Cursor("workspaces");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        query.done();
        List<WorkspaceRow> found = workspaces.list(after, limit + 1);
        return Answer.ok(Lists.page(found.stream().limit(limit).map(WorkspaceActions::document).toList(),
                found.size() <= limit ? null : cursor.write(found.get(limit - 1).id().toString())));
    }

    private Answer one(Call call) {
        call.query().done();
        UUID id = call.id("id", IdKind.WORKSPACE);
        ObjectNode document = document(Reads.found(workspaces.find(id), IdKind.WORKSPACE, id));
        document.set("use", reads.read((runs, c) -> runs.use(c, id)));
        return Answer.resource(document);
    }

    private Answer limits(Call call) {
        call.query().done();
        UUID id = call.workspace();
        WorkspaceRow workspace = workspaces.find(id).orElseThrow();
        ObjectNode document = Json.object().put("workspace_id", id.toString());
        document.set("limits", document(workspace.limits()));
        document.set("use", reads.read((runs, c) -> runs.use(c, id)));
        return Answer.ok(document);
    }

    private Answer create(Call call) throws IOException {
        call.query().done();
        Fields fields = call.fields();
        String name = fields.text("name", MAX_NAME);
        Map<String, Optional<Long>> limits = limits(fields);
        Workspaces.Folders folders = folders(fields);
        fields.done();
        UUID id = ids.next();
        Answer answer = transaction.answer(call, c -> {
            WorkspaceRow made = row(workspaces.create(c, id, name, limits, folders, call.origin()), id);
            return Answer.created("/api/v1/workspaces/" + made.id(), document(made));
        });
        tell(limits);
        return answer;
    }

    private void tell(Map<String, Optional<Long>> limits) {
        if (!limits.isEmpty()) {
            limited.run();
        }
    }

    private Answer change(Call call) throws IOException {
        call.query().done();
        Fields fields = call.fields();
        String name = fields.optionalText("name", MAX_NAME);
        if (name != null && name.isBlank()) {
            fields.problem("EMPTY", "name", "'name' may not be blank");
        }
        Map<String, Optional<Long>> limits = limits(fields);
        Workspaces.Folders folders = folders(fields);
        fields.done();
        UUID id = call.id("id", IdKind.WORKSPACE);
        WorkspaceRow changed =
                row(workspaces.change(id, new Workspaces.Change(name, limits, folders), call.origin()), id);
        if (changed.closed()) {
            throw Refusal.of(ErrorCode.WORKSPACE_NOT_OPEN, "the workspace is closed");
        }
        tell(limits);
        return Answer.ok(document(changed));
    }

    private static WorkspaceRow row(WorkspaceResult result, UUID id) {
        return switch (result) {
            case WorkspaceResult.Is(WorkspaceRow row) -> row;
            case WorkspaceResult.NameTaken(UUID by) -> throw Refusal.of(ErrorCode.WORKSPACE_NAME_TAKEN,
                    "workspace " + by + " has this name").with("workspace_id", by.toString());
            case WorkspaceResult.NoWorkspace n -> throw IdKind.WORKSPACE.notFound(id);
        };
    }

    /** Null where the body does not name them. */
    private static Workspaces.@Nullable Folders folders(Fields body) {
        if (body.clears(FOLDERS)) {
            return new Workspaces.Folders(null);
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
        return new Workspaces.Folders(paths);
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

    /** Closes the workspace and cancels what is open in it. Repeated it goes on with what is still open. */
    private Answer close(Call call) throws IOException {
        return Answer.ok(document(closed(call)));
    }

    private WorkspaceRow closed(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        UUID id = call.id("id", IdKind.WORKSPACE);
        if (id.equals(Bootstrap.DEFAULT_WORKSPACE)) {
            throw Refusal.of(ErrorCode.WORKSPACE_NOT_OPEN, "the first workspace is what the installation is run from");
        }
        WorkspaceRow closed = Reads.found(workspaces.close(id, call.origin()), IdKind.WORKSPACE, id);
        purger.cancelAll(id, call.actor());
        return closed;
    }

    /** Closes it, too; what it has is removed from then on. Repeated it changes nothing. */
    private Answer delete(Call call) throws IOException {
        WorkspaceRow closed = closed(call);
        purger.asks().ask(closed.id(), call.origin());
        purger.nudge();
        return Answer.json(202, document(workspaces.find(closed.id()).orElse(closed)));
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
