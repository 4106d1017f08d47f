package io.keelson.server.app.metrics;

import io.keelson.server.engine.store.queue.Backlog;
import io.keelson.server.outlet.webhook.Deliveries;

/**
 * Gauges of the whole installation, from the database.
 *
 * @param open runs, and work that waits for them
 * @param deliveries to receivers of events
 */
public record DatabaseGauges(Backlog open, Deliveries.Waiting deliveries) {}
