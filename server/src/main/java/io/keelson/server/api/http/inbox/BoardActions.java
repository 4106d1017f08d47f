package io.keelson.server.api.http.inbox;

import io.keelson.api.outlet.BoardColumn;
import io.keelson.api.outlet.BoardTask;
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
import io.keelson.server.outlet.board.BoardTasks;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The work board. */
public final class BoardActions {

    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,15}");
    /** The largest integer that a JSON number represents exactly. */
    private static final long MAX_ID = (1L << 53) - 1;
    /** Sources of the top level without another filter: runs, and all tasks created by people. */
    private static final List<String> TOP = List.of("user", "recipe", "orchestration");

    private final BoardTasks board;
    private final KeyedTransaction transaction;

    public BoardActions(BoardTasks board, KeyedTransaction transaction) {
        this.board = board;
        this.transaction = transaction;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/board", this::columns);
        table.get(Scope.RUNS_READ, "/board/tasks", this::list);
        table.post(Scope.RUNS_WRITE, "/board/tasks", BoardTask.New.class, this::create);
        table.get(Scope.RUNS_READ, "/board/tasks/{id}", this::one);
        table.patch(Scope.RUNS_WRITE, "/board/tasks/{id}", BoardTask.Change.class, this::change);
        table.delete(Scope.RUNS_WRITE, "/board/tasks/{id}", this::remove);
    }

    private ApiResponse columns(ApiRequest request) {
        Query query = request.query();
        BoardTasks.Filter filter = filter(query, null);
        int limit = query.limit();
        ListCursor cursor = cursor();
        return ApiResponse.ok(Json.document(new BoardColumn.All(board.columns(request.workspace(), filter, limit)
                .stream().map(column -> {
                    Long next = column.next();
                    return new BoardColumn(column.status(), Math.min(column.count(), BoardTasks.COUNTED),
                            column.count() > BoardTasks.COUNTED, column.newest(),
                            next == null ? null : cursor.write(Long.toString(next)));
                }).toList())));
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        BoardTasks.Filter filter = filter(query, query.text("status"));
        ListCursor cursor = cursor();
        Long before = cursor.read(query, Long::valueOf);
        int limit = query.limit();
        Page<BoardTask> found = board.list(request.workspace(), filter, before == null ? Long.MAX_VALUE : before,
                limit);
        return ApiResponse.ok(Lists.page(found, cursor, task -> Long.toString(task.id())));
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

    private ApiResponse create(ApiRequest request, BoardTask.New body) {
        BoardTasks.New made = new BoardTasks.New(body.title(), body.description(), body.status(), body.priority(),
                body.assignee(), body.parentTaskId(), tags(body.tags()), request.actor().id());
        return transaction.answer(request, c -> {
            BoardTask task = board.create(c, request.workspace(), made)
                    .orElseThrow(() -> ApiProblem.of("BOARD_TASK_NOT_FOUND", "/parent_task_id",
                            "no task " + body.parentTaskId() + " on the board"));
            return ApiResponse.created("/api/v1/board/tasks/" + task.id(), Json.document(task));
        });
    }

    private ApiResponse change(ApiRequest request, BoardTask.Change body) {
        BoardTasks.Change change =
                new BoardTasks.Change(body.title(), text(body.description()), body.status(), body.priority(),
                        text(body.assignee()), body.tags() == null ? null : tags(body.tags()), text(body.result()));
        long id = id(request);
        return answer(board.change(request.workspace(), id, change, task -> {
            if (BoardTasks.orchestrated(task) && !change.ofPriorityOnly()) {
                throw readOnly(task, "only its priority can be changed");
            }
            request.requireVersion(version(task), Json.document(task));
        }).orElseThrow(() -> notFound(id)));
    }

    private static ApiResponse answer(BoardTask task) {
        return ApiResponse.resource(Json.document(task), version(task));
    }

    private static String version(BoardTask task) {
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

    private static ApiProblem readOnly(BoardTask task, String what) {
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
}
