package io.keelson.server.annex.model;

import tools.jackson.databind.JsonNode;

/**
 * A tool that a model may call.
 *
 * @param name of letters, digits, {@code _} and {@code -}, at most 64 characters: no provider takes others
 * @param inputSchema JSON Schema of its input, an object
 */
public record ToolSchema(String name, String description, JsonNode inputSchema) {}
