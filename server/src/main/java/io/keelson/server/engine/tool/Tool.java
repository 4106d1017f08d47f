package io.keelson.server.engine.tool;

/**
 * One thing a step can do. Implementations are stateless and safe for use by many threads at once.
 */
public interface Tool {

    ToolSpec spec();

    /**
     * Does the work once. Input was checked against {@link ToolSpec#inputSchema()} before.
     * An interrupt means cancel or timeout: everything that the call started must have ended when this returns or throws.
     *
     * @throws ToolFailure the named, classified outcome "it did not work"; any other exception counts as a bug of the
     *     tool and is treated as {@code infrastructure}
     */
    ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException;
}
