package io.keelson.server.api.http.support;

/**
 * The reason why a server can take no runs at the moment.
 *
 * @param detail a text for operators
 */
public record Obstacle(ErrorCode code, String detail) {}
