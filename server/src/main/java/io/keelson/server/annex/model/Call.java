package io.keelson.server.annex.model;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A call of a tool that a model asks for.
 *
 * @param id of the call in its conversation
 * @param input null where the arguments are no JSON object
 * @param text the arguments as the model has written them
 */
public record Call(String id, String name, @Nullable JsonNode input, String text) {}
