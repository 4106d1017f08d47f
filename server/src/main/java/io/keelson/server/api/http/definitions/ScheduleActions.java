package io.keelson.server.api.http.definitions;

import io.keelson.api.schedule.Backfill;
import io.keelson.api.schedule.NextTimes;
import io.keelson.api.schedule.ScheduleDefinition;
import io.keelson.api.schedule.ScheduledTime;
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
import io.keelson.server.api.http.support.SubmissionMapping;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.schedule.ScheduleRow;
import io.keelson.server.mission.schedule.ScheduleRunner;
import io.keelson.server.mission.schedule.ScheduleServices;
import io.keelson.server.mission.schedule.ScheduleStore;
import io.keelson.server.mission.schedule.ScheduledTimeRow;
import io.keelson.server.mission.schedule.ScheduledTimes;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.tenant.auth.Scope;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Schedules: created, changed, paused, previewed, triggered and backfilled. */
public final class ScheduleActions {

    private static final int MAX_BACKFILLED = 1_000;
    private static final String UNIQUE_VIOLATION = "23505";

    private final ScheduleStore schedules;
    private final ScheduledTimes scheduledTimes;
    private final ScheduleRunner scheduleRunner;
    private final Database database;
    private final RecipeMissions missions;
    private final Ids ids;
    private final KeyedTransaction keyed;

    public ScheduleActions(ScheduleServices services, Database database, RecipeMissions missions, Ids ids,
            KeyedTransaction keyed) {
        this.schedules = services.schedules();
        this.scheduledTimes = services.scheduledTimes();
        this.scheduleRunner = services.scheduleRunner();
        this.database = database;
        this.missions = missions;
        this.ids = ids;
        this.keyed = keyed;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/schedules", this::list);
        table.post(Scope.RUNS_WRITE, "/schedules", ScheduleDefinition.class, this::create);
        table.get(Scope.RUNS_READ, "/schedules/{id}", this::show);
        table.put(Scope.RUNS_WRITE, "/schedules/{id}", ScheduleDefinition.class, this::replace);
        table.delete(Scope.RUNS_WRITE, "/schedules/{id}", this::remove);
        table.post(Scope.RUNS_WRITE, "/schedules/{id}/pause", request -> pause(request, true));
        table.post(Scope.RUNS_WRITE, "/schedules/{id}/resume", apiRequest -> pause(apiRequest, false));
        table.post(Scope.RUNS_WRITE, "/schedules/{id}/trigger", this::trigger);
        table.post(Scope.RUNS_WRITE, "/schedules/{id}/backfill", Backfill.class, this::backfill);
        table.get(Scope.RUNS_READ, "/schedules/{id}/runs", this::runs);
        table.get(Scope.RUNS_READ, "/schedules/{id}/next", this::next);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        ListCursor cursor = new ListCursor("schedules");
        String name = query.text("name");
        String after = cursor.read(query, text -> text);
        int limit = query.limit();
        Page<ScheduleRow> found = database
                .withConnection(c -> schedules.list(c, request.workspace(), name, after, limit));
        return ApiResponse.ok(Lists.page(found, cursor, schedule -> schedule.shown().name(),
                ScheduleActions::listItem));
    }

    private ApiResponse create(ApiRequest request, ScheduleDefinition body) {
        UUID recipe = checkRecipe(body, request.workspace());
        UUID id = ids.next();
        return keyed.answer(request, c -> {
            if (!schedules.insert(c, id, request.workspace(), body, recipe,
                    String.valueOf(request.actor().id()))) {
                throw nameTaken();
            }
            return ApiResponse.created("/api/v1/schedules/" + id,
                    document(schedules.find(c, request.workspace(), id).orElseThrow()));
        });
    }

    private ApiResponse show(ApiRequest request) {
        return answer(schedule(request));
    }

    private ApiResponse replace(ApiRequest request, ScheduleDefinition body) {
        schedule(request);
        UUID recipe = checkRecipe(body, request.workspace());
        UUID id = request.id("id", IdKind.SCHEDULE);
        try {
            database.runInTransaction(c -> {
                ScheduleRow before = locked(c, request, id);
                request.requireVersion(String.valueOf(before.shown().version()), document(before));
                schedules.change(c, before, body, recipe);
            });
        } catch (SqlFailure e) {
            if (e.sqlState().equals(UNIQUE_VIOLATION)) {
                throw nameTaken();
            }
            throw e;
        }
        return answer(schedule(request));
    }

    private ScheduleRow locked(Connection c, ApiRequest request, UUID id) throws SQLException {
        return Reads.found(schedules.locked(c, request.workspace(), id), IdKind.SCHEDULE, id);
    }

    /**
     * The recipe of a definition; null if it has a mission. Its mission is checked as if a run of it were created now.
     *
     * @throws ApiProblem that lists all problems
     */
    private @Nullable UUID checkRecipe(ScheduleDefinition body, UUID workspace) {
        if (IdKind.SCHEDULE.parse(body.name()) != null) {
            throw ApiProblem.of("INVALID_VALUE", "/name", "a name may not look like an id");
        }
        if ((body.recipe() == null) == (body.mission() == null)) {
            throw ApiProblem.of("REQUIRED", "/recipe", "exactly one of recipe and mission is required");
        }
        String named = body.recipe();
        UUID recipe = named == null ? null
                : missions.find(workspace, named).map(RecipeRow::id)
                        .orElseThrow(() -> ApiProblem.of(List.of(RecipeMissions.unknownRecipe(named))));
        var _ = SubmissionMapping.value(missions.ofSchedule(workspace, recipe, body.inputs(), body.mission(), "cron"));
        return recipe;
    }

    private static ApiResponse answer(ScheduleRow schedule) {
        return ApiResponse.resource(document(schedule), String.valueOf(schedule.shown().version()));
    }

    private static ObjectNode document(ScheduleRow schedule) {
        return Json.document(schedule.shown());
    }

    private static ObjectNode listItem(ScheduleRow schedule) {
        return (ObjectNode) document(schedule).without("mission");
    }

    private static ObjectNode document(ScheduledTimeRow time) {
        return Json.document(new ScheduledTime(time.scheduleId().toString(), time.scheduledFor(), time.kind().wire(),
                time.state().wire(), time.runId().toString(), time.fireAt(), time.errorCode(), time.errorMessage(),
                time.decidedAt()));
    }

    private ApiResponse remove(ApiRequest request) {
        UUID id = request.id("id", IdKind.SCHEDULE);
        if (!database.inTransaction(c -> schedules.delete(c, request.workspace(), id))) {
            throw IdKind.SCHEDULE.notFound(id);
        }
        return ApiResponse.empty(204);
    }

    private ApiResponse pause(ApiRequest request, boolean paused) {
        UUID id = request.id("id", IdKind.SCHEDULE);
        database.runInTransaction(c -> schedules.pause(c, locked(c, request, id), paused));
        return answer(schedule(request));
    }

    private ApiResponse trigger(ApiRequest request) throws InterruptedException {
        ScheduleRow schedule = schedule(request);
        ApiResponse response = keyed.answer(request, c -> ApiResponse.ok(document(
                Reads.found(scheduleRunner.trigger(c, schedule), IdKind.SCHEDULE, schedule.id()))));
        scheduleRunner.take(schedule.id());
        return response;
    }

    private ApiResponse backfill(ApiRequest request, Backfill body) {
        ScheduleRow schedule = schedule(request);
        if (body.to().isBefore(body.from())) {
            throw ApiProblem.of("OUT_OF_RANGE", "/to", "may not be before 'from'");
        }
        List<Instant> times = schedule.rule().between(body.from(), body.to(), MAX_BACKFILLED + 1);
        if (times.size() > MAX_BACKFILLED) {
            throw ApiProblem.of("OUT_OF_RANGE", "/to",
                    "at most " + MAX_BACKFILLED + " times can be backfilled at once");
        }
        ObjectNode answer = Json.document(new Backfill.Result(times.size()));
        ApiResponse said = keyed.answer(request, c -> {
            if (!scheduleRunner.backfill(c, schedule, times)) {
                throw IdKind.SCHEDULE.notFound(schedule.id());
            }
            return ApiResponse.ok(answer);
        });
        scheduleRunner.signal();
        return said;
    }

    private ApiResponse runs(ApiRequest request) {
        UUID id = request.id("id", IdKind.SCHEDULE);
        Query query = request.query();
        ListCursor cursor = new ListCursor("schedule runs " + id);
        ScheduledTimes.Place after = cursor.read(query, ScheduleActions::place);
        int limit = query.limit();
        schedule(request);
        List<ScheduledTimeRow> found = database
                .withConnection(c -> scheduledTimes.list(c, request.workspace(), id, after, limit + 1));
        ScheduledTimeRow last = found.size() <= limit ? null : found.get(limit - 1);
        return ApiResponse.ok(Lists.page(found.stream().limit(limit).map(ScheduleActions::document).toList(),
                last == null ? null : cursor.write(last.scheduledFor() + " " + last.kind().wire())));
    }

    private static ScheduledTimes.Place place(String text) {
        String[] parts = text.split(" ", 2);
        return new ScheduledTimes.Place(Instant.parse(parts[0]),
                ScheduledTimeRow.Kind.valueOf(parts[1].toUpperCase(Locale.ROOT)));
    }

    /** The next times of a schedule. A paused schedule is treated as active. */
    private ApiResponse next(ApiRequest request) {
        Query query = request.query();
        int count = (int) query.integer("count", 0);
        Instant after = query.time("after");
        ScheduleRow schedule = schedule(request);
        Instant from = after != null ? after : database.withConnection(schedules::now);
        return ApiResponse.ok(Json.document(new NextTimes(schedule.rule().preview(from, count))));
    }

    private ScheduleRow schedule(ApiRequest request) {
        UUID id = request.id("id", IdKind.SCHEDULE);
        return Reads.found(database.withConnection(c -> schedules.find(c, request.workspace(), id)), IdKind.SCHEDULE,
                id);
    }

    private static ApiProblem nameTaken() {
        return ApiProblem.of(ErrorCode.SCHEDULE_NAME_TAKEN, "another schedule of the workspace has this name")
                .with("pointer", "/name");
    }
}
