package io.keelson.server.metrics;

import io.keelson.server.run.queue.Backlog;
import io.keelson.server.webhook.Deliveries;

/**
 * What the database knows of the whole installation.
 *
 * @param open runs, and what waits for them
 * @param deliveries to receivers of events
 */
public record DatabaseGauges(Backlog open, Deliveries.Waiting deliveries) {}
