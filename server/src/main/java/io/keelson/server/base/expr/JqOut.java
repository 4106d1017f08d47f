package io.keelson.server.base.expr;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Receives the values of a node, one at a time. */
interface JqOut {

    /** @param path the value's path where paths are followed, else null */
    void emit(JsonNode value, @Nullable JqPath path);
}
