package io.keelson.client;

/** What a workspace has of what may be limited. */
public record WorkspaceUse(long openRuns, long steps, long runsLastMinute, long storageBytes) {}
