package io.keelson.server.schedule;

/** What the API needs of this room. */
public record ScheduleRoom(Schedules schedules, Ticks ticks, Ticker ticker) {}
