package io.keelson.server.annex.model;

/** Whether a model calls tools in its answer. */
public enum ToolChoice {
    /** The model decides. */
    AUTO,
    /** It calls none. */
    NONE,
    /** It calls at least one. */
    REQUIRED
}
