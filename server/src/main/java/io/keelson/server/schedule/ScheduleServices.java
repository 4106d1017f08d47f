package io.keelson.server.schedule;

/** What the API needs of this room. */
public record ScheduleServices(Schedules schedules, ScheduledTimes scheduledTimes, ScheduleRunner scheduleRunner) {}
