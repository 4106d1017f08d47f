package io.keelson.client;

import io.keelson.client.plan.Mission;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A schedule to create or replace: its times, and the mission or recipe of its runs. Members that are not set get their
 * default.
 */
public final class ScheduleRequest {

    private final ObjectNode body;

    private ScheduleRequest(ObjectNode body) {
        this.body = body;
    }

    /**
     * @param name unique in the workspace
     * @param cron minute, hour, day of month, month, day of week; or a name such as {@code @daily}
     */
    public static ScheduleRequest of(String name, String cron) {
        return new ScheduleRequest(Json.object().put("name", name).put("cron", cron));
    }

    /** Makes runs of this recipe, given by its name or id; or else of a mission. */
    public ScheduleRequest recipe(String value) {
        body.put("recipe", value);
        return this;
    }

    /** Makes runs of this mission; or else of a recipe. */
    public ScheduleRequest mission(Mission value) {
        body.set("mission", value.toJson());
        return this;
    }

    /** The value of one declared input: any that Jackson can write. */
    public ScheduleRequest input(String name, @Nullable Object value) {
        body.withObjectProperty("inputs").set(name, Json.of(value));
        return this;
    }

    /** A name of the IANA's, such as {@code Europe/Berlin}; UTC by default. */
    public ScheduleRequest timeZone(String value) {
        body.put("time_zone", value);
        return this;
    }

    /** While a run is open: {@code allow}, {@code skip} (default), {@code queue} or {@code cancel_running}. */
    public ScheduleRequest overlap(String value) {
        body.put("overlap", value);
        return this;
    }

    /** For times missed without a server: {@code skip}, {@code latest} (default) or {@code all}. */
    public ScheduleRequest catchUp(String value) {
        body.put("catch_up", value);
        return this;
    }

    /** Missed times that are older are skipped; whole seconds, a day by default. */
    public ScheduleRequest catchUpWindow(Duration value) {
        body.put("catch_up_window_seconds", value.toSeconds());
        return this;
    }

    /** Delays each run by a random time up to this; whole seconds. */
    public ScheduleRequest jitter(Duration value) {
        body.put("jitter_seconds", value.toSeconds());
        return this;
    }

    /** The last possible time. */
    public ScheduleRequest endAt(Instant value) {
        body.put("end_at", value.toString());
        return this;
    }

    /** Ends the schedule after so many runs. */
    public ScheduleRequest maxRuns(int value) {
        body.put("max_runs", value);
        return this;
    }

    /** Sets whether the schedule begins paused. */
    public ScheduleRequest paused(boolean value) {
        body.put("paused", value);
        return this;
    }

    ObjectNode body() {
        return body;
    }
}
