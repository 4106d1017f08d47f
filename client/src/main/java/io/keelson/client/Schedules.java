package io.keelson.client;

import io.keelson.api.schedule.Schedule;
import io.keelson.api.schedule.ScheduledTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Runs that are made at times. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Schedules {

    private final Api api;

    Schedules(Api api) {
        this.api = api;
    }

    /** All of them, by name, without their missions. */
    public List<Schedule> list() {
        return Page.all(
                cursor -> Page.of(api.get(RequestPath.of("/schedules").with("cursor", cursor).toString()),
                        Schedule.class));
    }

    /** Reads a schedule. */
    public Schedule get(String id) {
        return schedule(Call.get(RequestPath.of("/schedules/", id)));
    }

    /** Finds a schedule by name, without its mission; empty if the name is unknown. */
    public Optional<Schedule> byName(String name) {
        return Page.of(api.get(RequestPath.of("/schedules").with("name", name).toString()), Schedule.class).items()
                .stream()
                .findFirst();
    }

    /** Creates a schedule. */
    public Schedule create(ScheduleRequest request) {
        return schedule(Call.post("/schedules", request.body()).keyed(null));
    }

    /** Replaces the whole schedule; members that the request does not set get their default. */
    public Schedule replace(String id, ScheduleRequest request) {
        return schedule(Call.put(RequestPath.of("/schedules/", id), request.body()));
    }

    /** No more times come. */
    public Schedule pause(String id) {
        return schedule(Call.post(RequestPath.of("/schedules/", id, "/pause"), Json.object()).repeatable());
    }

    /** Continues with the next time from now. */
    public Schedule resume(String id) {
        return schedule(Call.post(RequestPath.of("/schedules/", id, "/resume"), Json.object()).repeatable());
    }

    /** Creates a run now, regardless of the schedule's policies. */
    public ScheduledTime trigger(String id) {
        return Json.document(
                api.send(Call.post(RequestPath.of("/schedules/", id, "/trigger"), Json.object()).keyed(null)).body(),
                ScheduledTime.class);
    }

    /**
     * Makes runs for the times of a period, both ends included; a time that was backfilled before is left out.
     *
     * @return how many times there are
     */
    public int backfill(String id, Instant from, Instant to) {
        JsonNode body = Json.object().put("from", from.toString()).put("to", to.toString());
        return api.send(Call.post(RequestPath.of("/schedules/", id, "/backfill"), body).repeatable()).body()
                .path("times")
                .asInt();
    }

    /** Its times with their outcomes, the latest first; at most so many. */
    public List<ScheduledTime> runs(String id, int limit) {
        return Page.of(api.get(RequestPath.of("/schedules/", id, "/runs").with("limit", limit).toString()),
                ScheduledTime.class).items();
    }

    /** Its next times, as if it were not paused. */
    public List<Instant> next(String id, int count) {
        return api.get(RequestPath.of("/schedules/", id, "/next").with("count", count).toString()).path("items")
                .valueStream().map(time -> Instant.parse(time.asString())).toList();
    }

    /** Its runs stay. */
    public void delete(String id) {
        api.send(Call.of("DELETE", RequestPath.of("/schedules/", id), null));
    }

    private Schedule schedule(Call call) {
        return Json.document(api.send(call).body(), Schedule.class);
    }
}
