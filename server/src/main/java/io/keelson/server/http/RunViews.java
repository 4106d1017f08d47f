package io.keelson.server.http;

import io.keelson.core.lifecycle.RunState;
import io.keelson.server.auth.Scope;
import io.keelson.server.engine.Commands;
import io.keelson.server.run.RunFilter;
import io.keelson.server.run.RunReader;
import io.keelson.server.run.StatusDocument;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** What clients read of runs. */
final class RunViews {

    private static final int MAX_ATTEMPT = 1_000_000;

    private final Reads reads;
    private final LongPoll poll;
    private final Commands commands;

    RunViews(Reads reads, LongPoll poll, Commands commands) {
        this.reads = reads;
        this.poll = poll;
        this.commands = commands;
    }

    void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/runs", this::list);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}", this::run);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/status", this::status);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/states", this::states);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/events", this::events);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/tasks", this::tasks);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/steps", this::steps);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/attempts",
                call -> rows(call, "attempts", (runs, c) -> runs.attempts(c, call.workspace(),
                        call.id("id", IdKind.RUN))));
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/plans",
                call -> rows(call, "plans", (runs, c) -> runs.plans(c, call.workspace(),
                        call.id("id", IdKind.RUN))));
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/agents",
                call -> rows(call, "agents", (runs, c) -> runs.agents(c, call.workspace(),
                        call.id("id", IdKind.RUN))));
        table.get(Scope.RUNS_READ, "/tasks/{id}", this::task);
        new TaskOutput(reads).addTo(table);
        table.get(Scope.RUNS_READ, "/steps/{id}", this::step);
        table.get(Scope.RUNS_READ, "/steps/{id}/attempts", this::stepAttempts);
        table.get(Scope.RUNS_READ, "/steps/{id}/logs", this::logs);
    }

    private Answer list(Call call) {
        Query query = call.query();
        RunFilter filter = RunFilters.of(query);
        int limit = query.limit();
        String cursor = query.text("cursor");
        query.done();
        try {
            RunReader.Page page = reads.read((runs, c) -> runs.runs(c, call.workspace(), filter, cursor, limit));
            return Answer.ok(Lists.page(page.items(), page.nextCursor()));
        } catch (RunReader.BadCursorException e) {
            throw Cursor.invalid();
        }
    }

    /** With {@code wait_ms} the answer is held back while the run has not ended. */
    private Answer run(Call call) throws InterruptedException {
        UUID id = call.id("id", IdKind.RUN);
        Query query = call.query();
        Duration wait = Duration.ofMillis(query.integer("wait_ms", 0, poll.longestMillis(), 0));
        query.done();
        if (wait.isZero()) {
            return Answer.resource(reads.run(call.workspace(), id));
        }
        CompletableFuture<RunState> end = commands.ended(id);
        try {
            if (!reads.ended(call.workspace(), id)) {
                poll.await(call, end, wait);
            }
            return Answer.resource(reads.run(call.workspace(), id));
        } finally {
            end.cancel(false);
        }
    }

    /** Polled more than anything else: whether it has changed follows from the number of the run's last event alone. */
    private Answer status(Call call) {
        call.query().done();
        UUID id = call.id("id", IdKind.RUN);
        String known = call.header("If-None-Match");
        if (known != null) {
            String tag = statusTag(reads.lastEvent(call.workspace(), id));
            if (ETag.matches(known, tag)) {
                return Answer.empty(304).header("ETag", tag).header("Cache-Control", "private, no-cache");
            }
        }
        ObjectNode row = reads.status(call.workspace(), id);
        return Answer.ok(StatusDocument.of(id, row)).header("ETag", statusTag(row.get("last_seq").longValue()));
    }

    private static String statusTag(long lastEvent) {
        return ETag.of("status-" + lastEvent);
    }

    private Answer states(Call call) {
        call.query().done();
        UUID id = call.id("id", IdKind.RUN);
        return Answer.resource(StatesDocument.of(reads.states(call.workspace(), id)));
    }

    private Answer task(Call call) {
        call.query().done();
        return Answer.resource(reads.task(call.workspace(), call.id("id", IdKind.TASK)));
    }

    private Answer step(Call call) {
        call.query().done();
        return Answer.resource(reads.step(call.workspace(), call.id("id", IdKind.STEP)));
    }

    /** Rows of an attempt after the row of that id. */
    private interface Rows {
        List<ObjectNode> read(RunReader runs, Connection c, @Nullable Integer attempt, boolean history,
                @Nullable UUID after, int limit) throws SQLException;
    }

    private Answer tasks(Call call) {
        UUID run = call.id("id", IdKind.RUN);
        return ofAttempt(call, new Cursor("tasks " + run), (runs, c, attempt, history, after, limit) -> runs.tasks(c,
                call.workspace(), run, attempt, history, after, limit));
    }

    private Answer steps(Call call) {
        UUID run = call.id("id", IdKind.RUN);
        return ofAttempt(call, new Cursor("steps " + run), (runs, c, attempt, history, after, limit) -> runs.steps(c,
                call.workspace(), run, attempt, history, after, limit));
    }

    private Answer ofAttempt(Call call, Cursor cursor, Rows rows) {
        Query query = call.query();
        Integer attempt = attempt(call);
        boolean history = "true".equals(query.word("history", List.of("true", "false")));
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit(Query.MAX_LIMIT);
        query.done();
        List<ObjectNode> found = reads.ofRun(call.workspace(), call.id("id", IdKind.RUN),
                (runs, c) -> rows.read(runs, c, attempt, history, after, limit + 1));
        if (found.size() <= limit) {
            return Lists.whole(found);
        }
        List<ObjectNode> shown = found.subList(0, limit);
        return Answer.ok(Lists.page(shown, cursor.write(shown.getLast().get("id").stringValue())));
    }

    private static @Nullable Integer attempt(Call call) {
        int attempt = (int) call.query().integer("attempt", 1, MAX_ATTEMPT, 0);
        return attempt == 0 ? null : Integer.valueOf(attempt);
    }

    private Answer rows(Call call, String list, Reads.Query<List<ObjectNode>> rows) {
        UUID run = call.id("id", IdKind.RUN);
        return new Portion(call, list + " " + run).of(reads.ofRun(call.workspace(), run, rows));
    }

    private Answer events(Call call) throws InterruptedException {
        UUID id = call.id("id", IdKind.RUN);
        Query query = call.query();
        SeqPage page = new SeqPage("events", query, "after");
        Duration wait = Duration.ofMillis(query.integer("wait_ms", 0, poll.longestMillis(), 0));
        query.done();
        List<ObjectNode> found = poll.look(call, wait, () -> reads.ofRun(call.workspace(), id,
                (runs, c) -> runs.events(c, call.workspace(), id, page.after(), page.toRead())));
        return ExportedEvents.named(reads, call.workspace(), id, page.after(), found, page.answer(found));
    }

    private Answer stepAttempts(Call call) {
        UUID id = call.id("id", IdKind.STEP);
        return new Portion(call, "step attempts " + id).of(reads.read((runs, c) -> {
            Reads.found(runs.step(c, call.workspace(), id), IdKind.STEP, id);
            return runs.stepAttempts(c, call.workspace(), id);
        }));
    }

    private Answer logs(Call call) {
        UUID id = call.id("id", IdKind.STEP);
        SeqPage page = new SeqPage("logs", call.query(), "after");
        call.query().done();
        return page.answer(reads.read((runs, c) -> {
            Reads.found(runs.step(c, call.workspace(), id), IdKind.STEP, id);
            return runs.logs(c, call.workspace(), id, page.after(), page.toRead());
        }));
    }
}
