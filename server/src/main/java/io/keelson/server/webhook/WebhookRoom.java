package io.keelson.server.webhook;

/** What others see of the room. */
public record WebhookRoom(Endpoints endpoints, Deliveries deliveries) {}
