package io.keelson.server.api.http.inbox;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ETag;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.outlet.board.BoardTaskRow;
import io.keelson.server.outlet.board.BoardTasks;
import io.keelson.server.tenant.auth.Scope;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The work board. */
public final class BoardActions {

    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,15}");
    /** The largest integer that a JSON number represents exactly. */
    private static final long MAX_ID = (1L << 53) - 1;
    /** Sources of the top level without another filter: runs, and all tasks created by people. */
    private static final List<String> TOP = List.of("user", "recipe", "orchestration");

    record NewTask(String title, @Nullable String description, String status, String priority,
            @Nullable String assignee, @Nullable Long parentTaskId, List<String> tags) {}

    /** Absent members stay unchanged; of some, null removes the value. */
    record TaskChange(@Nullable String title, @Nullable Optional<String> description, @Nullable String status,
            @Nullable String priority, @Nullable Optional<String> assignee, @Nullable List<String> tags,
            @Nullable Optional<String> result) {}

    private final BoardTasks board;
    private final KeyedTransaction transaction;

    public BoardActions(BoardTasks board, KeyedTransaction transaction) {
        this.board = board;
        this.transaction = transaction;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/board", this::columns);
        table.get(Scope.RUNS_READ, "/board/tasks", this::list);
        table.post(Scope.RUNS_WRITE, "/board/tasks", NewTask.class, this::create);
        table.get(Scope.RUNS_READ, "/board/tasks/{id}", this::one);
        table.patch(Scope.RUNS_WRITE, "/board/tasks/{id}", TaskChange.class, this::change);
        table.delete(Scope.RUNS_WRITE, "/board/tasks/{id}", this::remove);
    }

    private ApiResponse columns(ApiRequest request) {
        Query query = request.query();
        BoardTasks.Filter filter = filter(query, null);
        int limit = query.limit();
        ObjectNode document = Json.object();
        ArrayNode columns = document.putArray("columns");
        ListCursor cursor = cursor();
        board.columns(request.workspace(), filter, limit).forEach(column -> {
            Long next = column.next();
            ObjectNode each = columns.addObject().put("status", column.status())
                    .put("count", Math.min(column.count(), BoardTasks.COUNTED))
                    .put("more", column.count() > BoardTasks.COUNTED);
            ArrayNode items = each.putArray("items");
            column.newest().forEach(task -> items.add(document(task)));
            each.put("next_cursor", next == null ? null : cursor.write(Long.toString(next)));
        });
        return ApiResponse.ok(document);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        BoardTasks.Filter filter = filter(query, query.text("status"));
        ListCursor cursor = cursor();
        Long before = cursor.read(query, Long::valueOf);
        int limit = query.limit();
        Page<BoardTaskRow> found = board.list(request.workspace(), filter, before == null ? Long.MAX_VALUE : before,
                limit);
        return ApiResponse.ok(Lists.page(found, cursor, task -> Long.toString(task.id()), BoardActions::document));
    }

    private static ListCursor cursor() {
        return new ListCursor("board");
    }

    private static BoardTasks.Filter filter(Query query, @Nullable String status) {
        Long parent = query.integer("parent_task_id");
        UUID run = query.id("run_id");
        String source = query.text("source_type");
        String tag = query.text("tag");
        return new BoardTasks.Filter(parent, run, status, query.text("assignee"),
                source != null ? List.of(source) : parent == null && run == null ? TOP : BoardTasks.SOURCES,
                tag == null ? null : Json.strings(List.of(tag)).toString());
    }

    private ApiResponse one(ApiRequest request) {
        long id = id(request);
        return answer(board.find(request.workspace(), id).orElseThrow(() -> notFound(id)));
    }

    private ApiResponse create(ApiRequest request, NewTask body) {
        BoardTasks.New made = new BoardTasks.New(body.title, body.description, body.status, body.priority,
                body.assignee, body.parentTaskId, tags(body.tags), request.actor().id());
        return transaction.answer(request, c -> {
            BoardTaskRow task = board.create(c, request.workspace(), made)
                    .orElseThrow(() -> ApiProblem.of("BOARD_TASK_NOT_FOUND", "/parent_task_id",
                            "no task " + body.parentTaskId + " on the board"));
            return ApiResponse.created("/api/v1/board/tasks/" + task.id(), document(task));
        });
    }

    private ApiResponse change(ApiRequest request, TaskChange body) {
        BoardTasks.Change change = new BoardTasks.Change(body.title, text(body.description), body.status, body.priority,
                text(body.assignee), body.tags == null ? null : tags(body.tags), text(body.result));
        long id = id(request);
        return answer(board.change(request.workspace(), id, change, task -> {
            if (task.orchestrated() && !change.ofPriorityOnly()) {
                throw readOnly(task, "only its priority can be changed");
            }
            request.requireVersion(version(task), document(task));
        }).orElseThrow(() -> notFound(id)));
    }

    private static ApiResponse answer(BoardTaskRow task) {
        return ApiResponse.resource(document(task), version(task));
    }

    private static String version(BoardTaskRow task) {
        return ETag.version(task.updatedAt());
    }

    private ApiResponse remove(ApiRequest request) {
        long id = id(request);
        if (!board.remove(request.workspace(), id)) {
            throw readOnly(board.find(request.workspace(), id).orElseThrow(() -> notFound(id)),
                    "it cannot be deleted");
        }
        return ApiResponse.empty(204);
    }

    private static ApiProblem readOnly(BoardTaskRow task, String what) {
        return ApiProblem.of(ErrorCode.BOARD_TASK_READ_ONLY, "task " + task.id() + " is managed by a run: " + what)
                .with("run_id", String.valueOf(task.runId()));
    }

    private static @Nullable String text(@Nullable Optional<String> member) {
        return member == null ? null : member.orElse("");
    }

    /** JSON text of an array without doubles. */
    private static String tags(List<String> tags) {
        return Json.strings(tags.stream().distinct().toList()).toString();
    }

    private static long id(ApiRequest request) {
        String text = request.pathText("id");
        Long id = number(text);
        if (id == null) {
            throw ApiProblem.of(ErrorCode.INVALID_ID,
                    "'" + Excerpt.piece(text) + "' is not the number of a board task");
        }
        return id;
    }

    private static @Nullable Long number(String text) {
        long number = NUMBER.matcher(text).matches() ? Long.parseLong(text) : Long.MAX_VALUE;
        return number > MAX_ID ? null : Long.valueOf(number);
    }

    private static ApiProblem notFound(long id) {
        return ApiProblem.of(ErrorCode.BOARD_TASK_NOT_FOUND, "no task " + id + " on the board");
    }

    private static ObjectNode document(BoardTaskRow task) {
        UUID run = task.runId();
        ObjectNode document = Json.object().put("id", task.id()).put("title", task.title())
                .put("description", task.description()).put("status", task.status()).put("priority", task.priority())
                .put("review_mode", task.reviewMode()).put("assignee", task.assignee())
                .put("assigned_agent_id", task.assignedAgentId()).put("parent_task_id", task.parentTaskId())
                .put("children", Math.min(task.children(), BoardTasks.COUNTED))
                .put("source_type", task.sourceType()).put("source_id", task.sourceId())
                .put("run_id", run == null ? null : run.toString())
                .put("created_by_type", task.createdByType()).put("created_by_id", task.createdById());
        document.set("tags", Json.read(task.tags().getBytes(StandardCharsets.UTF_8)));
        document.set("planning_data", task.planningData() == null ? document.nullNode()
                : Json.read(task.planningData().getBytes(StandardCharsets.UTF_8)));
        return document.put("result", task.result()).put("error_message", task.errorMessage())
                .put("created_at", Json.time(task.createdAt())).put("updated_at", Json.time(task.updatedAt()))
                .put("started_at", Json.time(task.startedAt())).put("completed_at", Json.time(task.completedAt()));
    }
}
