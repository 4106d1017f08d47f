package io.keelson.api.work;

import java.time.Instant;

/**
 * A server at work on the database.
 *
 * @param id the server's own name
 * @param version version of the server
 * @param startedAt time of its start
 * @param lastSeenAt time of its last heartbeat
 */
public record NodeInfo(String id, String version, Instant startedAt, Instant lastSeenAt) {}
