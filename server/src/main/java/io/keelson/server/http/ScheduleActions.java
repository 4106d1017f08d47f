package io.keelson.server.http;

import io.keelson.core.plan.Problem;
import io.keelson.core.run.Ids;
import io.keelson.server.auth.Scope;
import io.keelson.server.db.Database;
import io.keelson.server.db.SqlFailure;
import io.keelson.server.schedule.Schedule;
import io.keelson.server.schedule.ScheduleRoom;
import io.keelson.server.schedule.ScheduleSpec;
import io.keelson.server.schedule.Schedules;
import io.keelson.server.schedule.Tick;
import io.keelson.server.schedule.Ticker;
import io.keelson.server.schedule.Ticks;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Schedules: made, changed, paused, looked ahead at, and asked for runs out of turn. */
final class ScheduleActions {

    private static final int MOST_BACKFILLED = 1_000;
    private static final int MOST_AHEAD = 100;
    private static final int AHEAD = 5;
    private static final String UNIQUE_VIOLATION = "23505";

    private final Schedules schedules;
    private final Ticks ticks;
    private final Ticker ticker;
    private final Database database;
    private final RecipeMissions missions;
    private final Ids ids;
    private final KeyedTransaction keyed;

    ScheduleActions(ScheduleRoom room, Database database, RecipeMissions missions, Ids ids, KeyedTransaction keyed) {
        this.schedules = room.schedules();
        this.ticks = room.ticks();
        this.ticker = room.ticker();
        this.database = database;
        this.missions = missions;
        this.ids = ids;
        this.keyed = keyed;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/schedules", this::list);
        table.post(Scope.RUNS_WRITE, "/schedules", this::create);
        table.get(Scope.RUNS_READ, "/schedules/{id}", this::show);
        table.put(Scope.RUNS_WRITE, "/schedules/{id}", this::replace);
        table.delete(Scope.RUNS_WRITE, "/schedules/{id}", this::remove);
        table.post(Scope.RUNS_WRITE, "/schedules/{id}/pause", call -> pause(call, true));
        table.post(Scope.RUNS_WRITE, "/schedules/{id}/resume", call -> pause(call, false));
        table.post(Scope.RUNS_WRITE, "/schedules/{id}/trigger", this::trigger);
        table.post(Scope.RUNS_WRITE, "/schedules/{id}/backfill", this::backfill);
        table.get(Scope.RUNS_READ, "/schedules/{id}/runs", this::runs);
        table.get(Scope.RUNS_READ, "/schedules/{id}/next", this::next);
    }

    private Answer list(Call call) {
        Query query = call.query();
        Cursor cursor = new Cursor("schedules");
        String name = query.text("name");
        String after = cursor.read(query, text -> text);
        int limit = query.limit();
        query.done();
        List<Schedule> found = database
                .withConnection(c -> schedules.list(c, call.workspace(), name, after, limit + 1));
        String next = found.size() <= limit ? null : cursor.write(found.get(limit - 1).spec().name());
        return Answer.ok(Lists.page(found.stream().limit(limit).map(ScheduleDocuments::of).toList(), next));
    }

    private Answer create(Call call) throws IOException {
        call.query().done();
        ScheduleBody.Asked asked = ScheduleBody.read(call.fields(), call.workspace(), missions, false);
        UUID id = ids.next();
        return keyed.answer(call, c -> {
            if (!schedules.insert(c, id, call.workspace(), asked.spec(), asked.paused(),
                    String.valueOf(call.actor().id()))) {
                throw nameTaken();
            }
            return Answer.created("/api/v1/schedules/" + id,
                    ScheduleDocuments.of(schedules.find(c, call.workspace(), id).orElseThrow()));
        });
    }

    private Answer show(Call call) {
        call.query().done();
        return Answer.resource(ScheduleDocuments.of(schedule(call)));
    }

    private Answer replace(Call call) throws IOException {
        call.query().done();
        Schedule before = schedule(call);
        ScheduleBody.Asked asked = ScheduleBody.read(call.fields(), call.workspace(), missions, before.paused());
        return change(call, before, asked.spec(), asked.paused());
    }

    private Answer change(Call call, Schedule before, ScheduleSpec spec, boolean paused) {
        if (!spec.equals(before.spec()) || paused != before.paused()) {
            try {
                database.runInTransaction(c -> schedules.change(c, before, spec, paused));
            } catch (SqlFailure e) {
                if (e.sqlState().equals(UNIQUE_VIOLATION)) {
                    throw nameTaken();
                }
                throw e;
            }
        }
        return Answer.ok(ScheduleDocuments.of(schedule(call)));
    }

    private Answer remove(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        UUID id = call.id("id", IdKind.SCHEDULE);
        if (!database.inTransaction(c -> schedules.delete(c, call.workspace(), id))) {
            throw IdKind.SCHEDULE.notFound(id);
        }
        return Answer.empty(204);
    }

    private Answer pause(Call call, boolean paused) throws IOException {
        call.query().done();
        call.fields().done();
        Schedule schedule = schedule(call);
        return change(call, schedule, schedule.spec(), paused);
    }

    private Answer trigger(Call call) throws IOException, InterruptedException {
        call.query().done();
        call.fields().done();
        Schedule schedule = schedule(call);
        Answer answer = keyed.answer(call, c -> Answer.ok(ScheduleDocuments.of(
                Reads.found(ticker.trigger(c, schedule), IdKind.SCHEDULE, schedule.id()))));
        ticker.take(schedule.id());
        return answer;
    }

    private Answer backfill(Call call) throws IOException {
        call.query().done();
        Schedule schedule = schedule(call);
        Fields fields = call.fields();
        Instant from = ScheduleBody.time(fields, "from");
        Instant to = ScheduleBody.time(fields, "to");
        if (from == null || to == null) {
            fields.problem("REQUIRED", from == null ? "from" : "to", "both ends must be given");
        } else if (to.isBefore(from)) {
            fields.problem("OUT_OF_RANGE", "to", "may not be before 'from'");
        }
        fields.done();
        List<Instant> times = from == null || to == null ? List.of()
                : schedule.spec().rule().between(from, to, MOST_BACKFILLED + 1);
        if (times.size() > MOST_BACKFILLED) {
            throw Refusal.of(List.of(new Problem("OUT_OF_RANGE", "/to", "at most " + MOST_BACKFILLED
                    + " times can be backfilled at once")));
        }
        ObjectNode answer = Json.object().put("times", times.size());
        Answer said = keyed.answer(call, c -> {
            if (!ticker.backfill(c, schedule, times)) {
                throw IdKind.SCHEDULE.notFound(schedule.id());
            }
            return Answer.ok(answer);
        });
        ticker.nudge();
        return said;
    }

    private Answer runs(Call call) {
        UUID id = call.id("id", IdKind.SCHEDULE);
        Query query = call.query();
        Cursor cursor = new Cursor("schedule runs " + id);
        Ticks.Place after = cursor.read(query, ScheduleActions::place);
        int limit = query.limit();
        query.done();
        schedule(call);
        List<Tick> found = database
                .withConnection(c -> ticks.list(c, call.workspace(), id, after, limit + 1));
        Tick last = found.size() <= limit ? null : found.get(limit - 1);
        return Answer.ok(Lists.page(found.stream().limit(limit).map(ScheduleDocuments::of).toList(),
                last == null ? null : cursor.write(last.scheduledFor() + " " + last.kind().wire())));
    }

    private static Ticks.Place place(String text) {
        String[] parts = text.split(" ", 2);
        return new Ticks.Place(Instant.parse(parts[0]), Tick.Kind.valueOf(parts[1].toUpperCase(Locale.ROOT)));
    }

    /** Also of one that is paused: as if it were not. */
    private Answer next(Call call) {
        Query query = call.query();
        int count = (int) query.integer("count", 1, MOST_AHEAD, AHEAD);
        Instant after = query.time("after");
        query.done();
        Schedule schedule = schedule(call);
        Instant from = after != null ? after : database.withConnection(schedules::now);
        ArrayNode items = Json.object().putArray("items");
        schedule.spec().rule().preview(from, count).forEach(time -> items.add(Json.time(time)));
        ObjectNode answer = Json.object();
        answer.set("items", items);
        return Answer.ok(answer);
    }

    private Schedule schedule(Call call) {
        UUID id = call.id("id", IdKind.SCHEDULE);
        return Reads.found(database.withConnection(c -> schedules.find(c, call.workspace(), id)), IdKind.SCHEDULE, id);
    }

    private static Refusal nameTaken() {
        return Refusal.of(ErrorCode.SCHEDULE_NAME_TAKEN, "another schedule of the workspace has this name")
                .with("pointer", "/name");
    }
}
