package io.keelson.server.work.model;

/** Whether a model calls tools in its answer. */
public enum ToolChoice {
    /** The model decides. */
    AUTO,
    /** It calls none. */
    NONE,
    /** It calls at least one. */
    REQUIRED
}
