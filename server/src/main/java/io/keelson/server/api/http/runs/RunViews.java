package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ETag;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.LongPoll;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.RunEndPoll;
import io.keelson.server.api.http.support.SeqPage;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.ArchivedRunReader;
import io.keelson.server.engine.store.read.Detail;
import io.keelson.server.engine.store.read.Explainer;
import io.keelson.server.engine.store.read.RunOrder;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.read.RunSelection;
import io.keelson.server.engine.store.read.RunStats;
import io.keelson.server.engine.store.read.StatusDocument;
import io.keelson.server.tenant.auth.Scope;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Routes that read runs. */
public final class RunViews {

    private static final int MAX_EXPLAINED_PAGES = 10;

    private final Reads reads;
    private final LongPoll poll;
    private final RunEndPoll ends;
    private final RunsNow now;

    public RunViews(Reads reads, LongPoll poll, RunEndPoll ends, Database database, Explainer explainer) {
        this.reads = reads;
        this.poll = poll;
        this.ends = ends;
        this.now = new RunsNow(database, explainer);
    }

    public void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/runs", this::list);
        table.get(Scope.RUNS_READ, "/runs/stats", this::stats);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}", this::run);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/status", this::status);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/states", this::states);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/events", this::events);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/tasks", this::tasks);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/steps", this::steps);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/attempts",
                call -> rows(call, "attempts", (runs, c) -> runs.attempts(c, call.workspace(),
                        call.id("id", IdKind.RUN))));
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/plans", this::plans);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/agents",
                request -> rows(request, "agents", (runs, c) -> runs.agents(c, request.workspace(),
                        request.id("id", IdKind.RUN))));
        new RunTimeline(reads).addTo(table);
        new RunGraph(reads).addTo(table);
        table.get(Scope.RUNS_READ, "/tasks/{id}", this::task);
        table.get(Scope.RUNS_READ, "/tasks/{id}/steps", this::stepsOfTask);
        table.get(Scope.RUNS_READ, "/tasks/{id}/rounds", this::roundsOfTask);
        new TaskReach(reads).addTo(table);
        table.get(Scope.RUNS_READ, "/tasks/{id}/transcript", this::transcript);
        new TaskOutput(reads).addTo(table);
        table.get(Scope.RUNS_READ, "/steps/{id}", this::step);
        table.get(Scope.RUNS_READ, "/steps/{id}/attempts", this::stepAttempts);
        table.get(Scope.RUNS_READ, "/steps/{id}/logs", this::logs);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        RunSelection filter = RunFilters.of(query);
        Fields fields = Fields.of(query);
        String sort = query.text("sort");
        if (query.flag("archived")) {
            return archived(request, filter, fields);
        }
        List<String> waits = query.texts("waits_for");
        if (sort != null && !waits.isEmpty()) {
            throw Query.invalid("sort", "cannot be combined with 'waits_for'");
        }
        if (sort != null && !sort.equals("-created_at")) {
            return sorted(request, filter, sort, fields);
        }
        int limit = query.limit();
        String cursor = query.text("cursor");
        try {
            if (!waits.isEmpty()) {
                return waiting(request, filter, WaitsFor.of(waits), fields);
            }
            RunReader.RunPage page = reads.read((runs, c) -> runs.runs(c, request.workspace(), filter, cursor, limit));
            if (query.flag("now")) {
                now.addTo(request.workspace(), page.items());
            }
            page.items().forEach(fields::keep);
            return ApiResponse.ok(Lists.page(page.items(), page.nextCursor()));
        } catch (RunReader.BadCursorException e) {
            throw ListCursor.invalid();
        }
    }

    private ApiResponse archived(ApiRequest request, RunSelection filter, Fields fields) {
        Query query = request.query();
        for (String other : List.of("sort", "waits_for", "now")) {
            if (query.given(other)) {
                throw Query.invalid(other, "cannot be combined with 'archived'");
            }
        }
        try {
            RunReader.RunPage page = reads.read((_, c) -> ArchivedRunReader.runs(c, request.workspace(), filter,
                    query.text("cursor"), query.limit()));
            page.items().forEach(fields::keep);
            return ApiResponse.ok(Lists.page(page.items(), page.nextCursor()));
        } catch (RunReader.BadCursorException e) {
            throw ListCursor.invalid();
        }
    }

    private ApiResponse sorted(ApiRequest request, RunSelection filter, String sort, Fields fields) {
        ListPage page = new ListPage(request, "runs by " + sort);
        Page<ObjectNode> found = reads.read((runs, c) -> runs.sortedRuns(c, request.workspace(), filter,
                RunOrder.of(sort), sort.startsWith("-"), page.from(), page.limit()));
        if (request.query().flag("now")) {
            now.addTo(request.workspace(), found.items());
        }
        found.items().forEach(fields::keep);
        return page.part(found);
    }

    /** Explains open runs until a page is full, within a bound; a page may be short and have a next one. */
    private ApiResponse waiting(ApiRequest request, RunSelection filter, Set<WaitsFor> what, Fields fields) {
        List<ObjectNode> found = new ArrayList<>();
        String cursor = request.query().text("cursor");
        int limit = request.query().limit();
        for (int i = 0; i < MAX_EXPLAINED_PAGES && found.size() < limit; i++) {
            String from = cursor;
            RunReader.RunPage page = reads.read((runs, c) -> runs.runs(c, request.workspace(), filter.open(), from,
                    limit - found.size()));
            found.addAll(now.waiting(request.workspace(), page.items(), what));
            cursor = page.nextCursor();
            if (cursor == null) {
                break;
            }
        }
        found.forEach(fields::keep);
        return ApiResponse.ok(Lists.page(found, cursor));
    }

    private ApiResponse stats(ApiRequest request) {
        RunSelection filter = RunFilters.of(request.query());
        RunStats.By by = RunStats.By.valueOf(String.valueOf(request.query().text("by")).toUpperCase(Locale.ROOT));
        return ApiResponse
                .resource(Json.document(reads.read((runs, c) -> RunStats.of(c, request.workspace(), filter, by))));
    }

    /** With {@code wait_ms} the answer is held back while the run has not ended. */
    private ApiResponse run(ApiRequest request) throws InterruptedException {
        UUID id = request.id("id", IdKind.RUN);
        Query query = request.query();
        Duration wait = Duration.ofMillis(query.integer("wait_ms", 0));
        Fields fields = Fields.of(query);
        if (!wait.isZero()) {
            try (RunEndPoll.Awaited end = ends.of(id)) {
                end.reached(request, wait);
            }
        }
        Detail detail = query.flag("light") ? Detail.LIGHT
                : fields.want("plan", "inputs", "output") ? Detail.WHOLE : Detail.WITHOUT_VALUES;
        return ApiResponse.resource(fields.keep(reads.run(request.workspace(), id, detail)));
    }

    /** Polled more than anything else: whether it has changed follows from the number of the run's last event alone. */
    private ApiResponse status(ApiRequest request) {
        UUID id = request.id("id", IdKind.RUN);
        String known = request.header("If-None-Match");
        if (known != null) {
            String tag = statusTag(reads.lastEvent(request.workspace(), id));
            if (ETag.matches(known, tag)) {
                return ApiResponse.empty(304).header("ETag", tag).header("Cache-Control", "private, no-cache");
            }
        }
        ObjectNode row = reads.status(request.workspace(), id);
        return ApiResponse.ok(StatusDocument.of(id, row)).header("ETag", statusTag(row.get("last_seq").longValue()));
    }

    private static String statusTag(long lastEvent) {
        return ETag.of("status-" + lastEvent);
    }

    private ApiResponse states(ApiRequest request) {
        UUID id = request.id("id", IdKind.RUN);
        return ApiResponse.resource(StatesDocument.of(reads.states(request.workspace(), id)));
    }

    private ApiResponse task(ApiRequest request) {
        return ApiResponse.resource(reads.task(request.workspace(), request.id("id", IdKind.TASK), detail(request)));
    }

    private ApiResponse step(ApiRequest request) {
        return ApiResponse.resource(reads.step(request.workspace(), request.id("id", IdKind.STEP), detail(request)));
    }

    private static Detail detail(ApiRequest request) {
        return Detail.of(request.query().flag("light"));
    }

    private ApiResponse stepsOfTask(ApiRequest request) {
        UUID id = request.id("id", IdKind.TASK);
        Query query = request.query();
        ListPage page = new ListPage(request, "steps of " + id);
        return page.part(reads.read((runs, c) -> {
            Reads.found(runs.task(c, request.workspace(), id, Detail.LIGHT), IdKind.TASK, id);
            return runs.stepsOfTask(c, request.workspace(), id, query.flag("history"), detail(request), page.from(),
                    page.limit());
        }));
    }

    private ApiResponse roundsOfTask(ApiRequest request) {
        UUID id = request.id("id", IdKind.TASK);
        ListPage page = new ListPage(request, "rounds of " + id);
        return page.part(reads.read((runs, c) -> {
            Reads.found(runs.task(c, request.workspace(), id, Detail.LIGHT), IdKind.TASK, id);
            return runs.roundsOfTask(c, request.workspace(), id, page.from(), page.limit());
        }));
    }

    /** Rows of an attempt after the row of that id. */
    private interface Rows {
        Page<ObjectNode> read(RunReader runs, Connection c, @Nullable Integer attempt, boolean history,
                @Nullable UUID after, int limit) throws SQLException;
    }

    private ApiResponse tasks(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        return ofAttempt(request, new ListCursor("tasks " + run), (runs, c, attempt, history, after, limit) -> runs
                .tasks(c, request.workspace(), run, detail(request), attempt, history, after, limit));
    }

    private ApiResponse steps(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        return ofAttempt(request, new ListCursor("steps " + run), (runs, c, attempt, history, after, limit) -> runs
                .steps(c, request.workspace(), run, detail(request), attempt, history, after, limit));
    }

    private ApiResponse ofAttempt(ApiRequest request, ListCursor cursor, Rows rows) {
        Query query = request.query();
        Integer attempt = attempt(request);
        boolean history = query.flag("history");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        Page<ObjectNode> found = reads.ofRun(request.workspace(), request.id("id", IdKind.RUN),
                (runs, c) -> rows.read(runs, c, attempt, history, after, limit));
        return ApiResponse.ok(Lists.page(found, cursor, row -> row.get("id").stringValue(), Function.identity()));
    }

    private static @Nullable Integer attempt(ApiRequest request) {
        int attempt = (int) request.query().integer("attempt", 0);
        return attempt == 0 ? null : Integer.valueOf(attempt);
    }

    private ApiResponse rows(ApiRequest request, String list, Reads.Query<List<ObjectNode>> rows) {
        UUID run = request.id("id", IdKind.RUN);
        return new ListPage(request, list + " " + run).of(reads.ofRun(request.workspace(), run, rows));
    }

    private ApiResponse events(ApiRequest request) throws InterruptedException {
        UUID id = request.id("id", IdKind.RUN);
        Query query = request.query();
        SeqPage page = new SeqPage("events", query);
        Duration wait = Duration.ofMillis(query.integer("wait_ms", 0));
        Page<ObjectNode> found = poll.look(request, wait, () -> reads.ofRun(request.workspace(), id,
                (runs, c) -> runs.events(c, request.workspace(), id, page.after(), page.limit())));
        return ExportedEvents.named(reads, request.workspace(), id, page.after(), found.items(), page.answer(found));
    }

    private ApiResponse stepAttempts(ApiRequest request) {
        UUID id = request.id("id", IdKind.STEP);
        ListPage page = new ListPage(request, "step attempts " + id);
        return page.part(reads.read((runs, c) -> {
            Reads.found(runs.step(c, request.workspace(), id), IdKind.STEP, id);
            return runs.stepAttempts(c, request.workspace(), id, page.from(), page.limit());
        }));
    }

    private ApiResponse transcript(ApiRequest request) {
        UUID id = request.id("id", IdKind.TASK);
        Long attempt = request.query().integer("attempt");
        boolean all = request.query().flag("history");
        ListPage page = new ListPage(request, "transcript " + id + " " + attempt + " " + all);
        Integer only = attempt == null ? null : Integer.valueOf(attempt.intValue());
        return page.part(reads.read((runs, c) -> {
            Reads.found(runs.task(c, request.workspace(), id), IdKind.TASK, id);
            return runs.transcript(c, request.workspace(), id, all ? Integer.valueOf(1) : only,
                    all ? Integer.valueOf(Integer.MAX_VALUE) : only, page.from(), page.limit());
        }));
    }

    private ApiResponse plans(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        ListPage page = new ListPage(request, "plans " + run);
        return page.part(reads.ofRun(request.workspace(), run,
                (runs, c) -> runs.plans(c, request.workspace(), run, page.from(), page.limit())));
    }

    private ApiResponse logs(ApiRequest request) {
        UUID id = request.id("id", IdKind.STEP);
        SeqPage page = new SeqPage("logs", request.query());
        return page.answer(reads.read((runs, c) -> {
            Reads.found(runs.step(c, request.workspace(), id), IdKind.STEP, id);
            return runs.logs(c, request.workspace(), id, page.after(), page.limit());
        }));
    }
}
