package io.keelson.server.webhook;

/** The public services of this package. */
public record WebhookServices(Endpoints endpoints, Deliveries deliveries) {}
