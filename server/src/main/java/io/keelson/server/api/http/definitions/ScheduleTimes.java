package io.keelson.server.api.http.definitions;

import io.keelson.api.schedule.NextTimes;
import io.keelson.api.schedule.SchedulePreview;
import io.keelson.core.schedule.CatchUp;
import io.keelson.core.schedule.Cron;
import io.keelson.core.schedule.DueTimes;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.schedule.ScheduleRow;
import io.keelson.server.mission.schedule.ScheduleStore;
import io.keelson.server.tenant.auth.Scope;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Upcoming times of schedules: of all schedules together, and of a schedule that is not created yet. */
public final class ScheduleTimes {

    private static final Duration USUAL_PERIOD = Duration.ofDays(7);
    private static final Duration LONGEST_PERIOD = Duration.ofDays(366);
    private static final int PAGE = 500;

    /** A schedule's next time in the merge of all; {@code left} so many more, this one included. */
    private record Next(ScheduleRow schedule, DueTimes.Rule rule, Instant at, int left) {}

    private final ScheduleStore schedules;
    private final Database database;

    public ScheduleTimes(ScheduleStore schedules, Database database) {
        this.schedules = schedules;
        this.database = database;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/schedules/next", this::next);
        table.post(Scope.RUNS_READ, "/schedules:preview", SchedulePreview.class, this::preview);
    }

    private ApiResponse next(ApiRequest request) {
        Query query = request.query();
        Instant from = Objects.requireNonNullElseGet(query.time("from"),
                () -> database.withConnection(schedules::now));
        Instant to = Objects.requireNonNullElse(query.time("to"), from.plus(USUAL_PERIOD));
        if (Duration.between(from, to).compareTo(LONGEST_PERIOD) > 0) {
            throw Query.invalid("to", "may be at most " + LONGEST_PERIOD.toDays() + " days after 'from'");
        }
        int limit = query.limit();
        PriorityQueue<Next> merged = new PriorityQueue<>(Comparator.comparing(Next::at)
                .thenComparing(next -> next.schedule.shown().name()));
        for (ScheduleRow each : active(request)) {
            DueTimes.Rule rule = each.rule();
            add(merged, each, rule, rule.after(from.minusNanos(1)), each.left(), to);
        }
        List<NextTimes.Item> items = new ArrayList<>();
        while (!merged.isEmpty() && items.size() < limit) {
            Next next = merged.remove();
            items.add(new NextTimes.Item(next.schedule.id().toString(), next.schedule.shown().name(), next.at));
            add(merged, next.schedule, next.rule, next.rule.after(next.at), next.left - 1, to);
        }
        return ApiResponse.ok(Json.document(new NextTimes.OfSchedules(from, to, items, merged.isEmpty())));
    }

    private static void add(PriorityQueue<Next> merged, ScheduleRow schedule, DueTimes.Rule rule, @Nullable Instant at,
            int left, Instant to) {
        if (at != null && at.isBefore(to) && left > 0) {
            merged.add(new Next(schedule, rule, at, left));
        }
    }

    /** The schedules that are neither paused nor over. */
    private List<ScheduleRow> active(ApiRequest request) {
        return database.withConnection(c -> {
            List<ScheduleRow> all = new ArrayList<>();
            String after = null;
            do {
                var page = schedules.list(c, request.workspace(), null, after, PAGE);
                page.items().stream().filter(each -> each.nextRunAt() != null)
                        .forEach(all::add);
                after = page.more() ? page.last().shown().name() : null;
            } while (after != null);
            return all;
        });
    }

    private ApiResponse preview(ApiRequest request, SchedulePreview body) {
        DueTimes.Rule rule = new DueTimes.Rule(Cron.parseValid(body.cron().strip()), ZoneId.of(body.timeZone()),
                CatchUp.LATEST, Duration.ZERO, body.endAt());
        Instant after = body.after() != null ? body.after() : database.withConnection(schedules::now);
        return ApiResponse.ok(Json.document(new NextTimes(rule.preview(after, body.count()))));
    }
}
