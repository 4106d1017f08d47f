package io.keelson.server.annex.mcp.wire;

import io.keelson.server.base.json.Excerpt;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.exc.StreamConstraintsException;

/** A request that has no usable answer. */
public final class McpException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Whether the request may have been carried out. */
    public enum Outcome {
        /** The server has not seen it. */
        NOT_SENT,
        /** The server has refused it. */
        REFUSED,
        /** Unknown: there was no whole answer. */
        LOST
    }

    /** In place of an error's code of JSON-RPC. */
    private static final int UNAUTHORIZED = 401;

    private final String code;
    private final Outcome outcome;
    private final boolean permanent;
    private final int rpcCode;
    private final transient @Nullable Duration retryAfter;
    private final boolean outOfOrder;

    private McpException(String code, Outcome outcome, boolean permanent, int rpcCode, @Nullable Duration retryAfter,
            String message) {
        this(code, outcome, permanent, rpcCode, retryAfter, message, false);
    }

    private McpException(String code, Outcome outcome, boolean permanent, int rpcCode, @Nullable Duration retryAfter,
            String message, boolean outOfOrder) {
        super(message);
        this.outOfOrder = outOfOrder;
        this.code = code;
        this.outcome = outcome;
        this.permanent = permanent;
        this.rpcCode = rpcCode;
        this.retryAfter = retryAfter;
    }

    /** The server cannot be reached now. */
    public static McpException unreachable(String message) {
        return new McpException("MCP_UNREACHABLE", Outcome.NOT_SENT, false, 0, null, message);
    }

    /** The server accepts no connections now. */
    static McpException unconnected(String message) {
        return new McpException("MCP_UNREACHABLE", Outcome.NOT_SENT, false, 0, null, message, true);
    }

    /** The server could not be reached, and is not tried before this time has passed. */
    public static McpException backingOff(Duration left, String message) {
        return new McpException("MCP_UNREACHABLE", Outcome.NOT_SENT, false, 0, left, message);
    }

    /** There was no whole answer. */
    public static McpException lost(String message) {
        return new McpException("MCP_BROKEN_OFF", Outcome.LOST, false, 0, null, message);
    }

    /** There was no answer in time. */
    public static McpException late(String message) {
        return new McpException("MCP_TIMEOUT", Outcome.LOST, false, 0, null, message);
    }

    /** The answer is not of the protocol. */
    public static McpException unreadable(String message) {
        return new McpException("MCP_ANSWER_UNREADABLE", Outcome.LOST, false, 0, null, message);
    }

    /** The answer exceeds a bound of documents. Its repetition would, too. */
    static McpException outOfBounds(StreamConstraintsException bound) {
        return new McpException("OUTPUT_INVALID", Outcome.LOST, true, 0, null,
                "the answer: " + Excerpt.firstLine(bound.getOriginalMessage()));
    }

    /** Neither this request nor any other is allowed, as this server's policy or the other one says. */
    static McpException forbidden(String code, String message) {
        return new McpException(code, Outcome.NOT_SENT, true, 0, null, message);
    }

    /** The server does not accept the credentials of the request. */
    static McpException unauthorized(String message) {
        return new McpException("MCP_AUTH_REFUSED", Outcome.NOT_SENT, true, UNAUTHORIZED, null, message);
    }

    /** True when other credentials may help. */
    boolean unauthorized() {
        return outcome == Outcome.NOT_SENT && rpcCode == UNAUTHORIZED;
    }

    /** The server is busy. */
    static McpException busy(@Nullable Duration retryAfter, String message) {
        return new McpException("MCP_BUSY", Outcome.REFUSED, false, 0, retryAfter, message, true);
    }

    /** The server has answered with an error. An internal one may have come after the effect. */
    static McpException refused(int rpcCode, String message) {
        boolean internal = rpcCode == Mcp.INTERNAL_ERROR;
        return new McpException("MCP_REFUSED", internal ? Outcome.LOST : Outcome.REFUSED, !internal, rpcCode, null,
                message);
    }

    /** A copy with another message. */
    public McpException saying(String message) {
        McpException other = new McpException(code, outcome, permanent, rpcCode, retryAfter, message, outOfOrder);
        other.setStackTrace(getStackTrace());
        return other;
    }

    /** Stable, {@code MCP_…} or a code of outgoing requests. */
    public String code() {
        return code;
    }

    public Outcome outcome() {
        return outcome;
    }

    /** True when a repetition has the same outcome. */
    public boolean permanent() {
        return permanent;
    }

    /** True when the server is busy or not there for any request, and has not carried this one out. */
    public boolean outOfOrder() {
        return outOfOrder;
    }

    /** The error's code of JSON-RPC; 0 if absent. */
    public int rpcCode() {
        return rpcCode;
    }

    /** When the server wants to be asked again; null where it does not say. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }
}
