package io.keelson.server.webhook;

/** What others see of the room. */
public record WebhookServices(Endpoints endpoints, Deliveries deliveries) {}
