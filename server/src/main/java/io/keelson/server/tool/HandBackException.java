package io.keelson.server.tool;

/**
 * The tool cannot work at this time, through no fault of the step: the step goes back to the queue and uses no attempt. Only
 * for tools that a further call does no harm to.
 */
public final class HandBackException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public HandBackException(String message, Throwable cause) {
        super(message, cause);
    }
}
