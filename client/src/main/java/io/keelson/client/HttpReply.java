package io.keelson.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A good answer: 2xx, or 304 with a null body. */
record HttpReply(int status, JsonNode body, @Nullable String etag) {}
