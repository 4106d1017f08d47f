package io.keelson.server.bulk;

/** What the API needs of this package. */
public record BulkServices(BulkJobs jobs, BulkDriver driver) {}
