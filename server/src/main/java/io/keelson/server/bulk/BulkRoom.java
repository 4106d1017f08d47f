package io.keelson.server.bulk;

/** What the API needs of this room. */
public record BulkRoom(BulkJobs jobs, BulkDriver driver) {}
