package io.keelson.server.bulk;

/** What the API needs of this room. */
public record BulkServices(BulkJobs jobs, BulkDriver driver) {}
