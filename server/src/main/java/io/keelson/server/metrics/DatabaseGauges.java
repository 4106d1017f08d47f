package io.keelson.server.metrics;

import io.keelson.server.run.queue.Backlog;
import io.keelson.server.webhook.Deliveries;

/**
 * Gauges of the whole installation, from the database.
 *
 * @param open runs, and work that waits for them
 * @param deliveries to receivers of events
 */
public record DatabaseGauges(Backlog open, Deliveries.Waiting deliveries) {}
