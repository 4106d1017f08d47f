package io.keelson.server.api.http.definitions;

import io.keelson.server.api.http.support.Lists;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.schedule.ScheduleRow;
import io.keelson.server.mission.schedule.ScheduleSpec;
import io.keelson.server.mission.schedule.ScheduleStore;
import io.keelson.server.mission.schedule.ScheduledTimeRow;
import tools.jackson.databind.node.ObjectNode;

/** Schedules and their times as clients see them. */
final class ScheduleDocuments {

    private ScheduleDocuments() {}

    static ObjectNode of(ScheduleRow schedule) {
        ScheduleSpec spec = schedule.spec();
        ObjectNode document = Json.object().put("id", schedule.id().toString())
                .put("workspace_id", schedule.workspaceId().toString()).put("name", spec.name())
                .put("recipe_id", spec.recipe() == null ? null : spec.recipe().toString());
        document.set("inputs", spec.inputs());
        document.set("mission", spec.mission());
        return document.put("cron", spec.cron()).put("time_zone", spec.timeZone())
                .put("overlap", spec.overlap().wire()).put("catch_up", spec.catchUp().wire())
                .put("catch_up_window_seconds", spec.window().toSeconds())
                .put("jitter_seconds", spec.jitter().toSeconds()).put("end_at", Json.time(spec.endAt()))
                .put("max_runs", spec.maxRuns()).put("paused", schedule.paused())
                .put("next_run_at", Json.time(schedule.nextRunAt())).put("runs_made", schedule.runsMade())
                .put("times_missed", schedule.timesMissed()).put("version", schedule.version())
                .put("created_by", schedule.createdBy()).put("created_at", Json.time(schedule.createdAt()))
                .put("updated_at", Json.time(schedule.updatedAt()));
    }

    /** Without its mission; {@code omitted} names the inputs where they are too large. */
    static ObjectNode listed(ScheduleStore.Listed listed) {
        ObjectNode document = of(listed.schedule());
        document.remove("mission");
        return Lists.omitted(document, "inputs", listed.inputsOmitted());
    }

    static ObjectNode of(ScheduledTimeRow time) {
        return Json.object().put("schedule_id", time.scheduleId().toString())
                .put("scheduled_for", Json.time(time.scheduledFor())).put("kind", time.kind().wire())
                .put("state", time.state().wire()).put("run_id", time.runId().toString())
                .put("fire_at", Json.time(time.fireAt())).put("error_code", time.errorCode())
                .put("error_message", time.errorMessage()).put("decided_at", Json.time(time.decidedAt()));
    }
}
