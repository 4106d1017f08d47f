package io.keelson.server.annex.mcp.gateway;

/** Observes calls of tools by programs. Called by many threads. */
public interface ToolGatewayObserver {

    /** Observes nothing. */
    ToolGatewayObserver NONE = new ToolGatewayObserver() {};

    /** A call is made. */
    default void onCall() {}

    /** A call is answered by the result of an earlier one. */
    default void onReplay() {}

    /** A step waits for a person without its program. */
    default void onPark() {}

    /** A call is not made. */
    default void onRefusal() {}
}
