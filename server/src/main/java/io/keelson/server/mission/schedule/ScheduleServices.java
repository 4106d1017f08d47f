package io.keelson.server.mission.schedule;

/** The services of this package that the API uses. */
public record ScheduleServices(ScheduleStore schedules, ScheduledTimes scheduledTimes, ScheduleRunner scheduleRunner) {}
