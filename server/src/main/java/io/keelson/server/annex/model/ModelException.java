package io.keelson.server.annex.model;

import io.keelson.core.money.Tokens;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A model gave no answer that can be used. */
public final class ModelException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The reaction to the error. */
    public enum Kind {
        /** Busy: ask again later. */
        DEFERRED,
        /** The provider's quota or spending limit is used up. */
        QUOTA,
        /** The key is unknown or may not use the model. */
        KEY_REFUSED,
        /** The provider refuses the request; it would refuse it again. */
        BAD_REQUEST,
        /** The conversation exceeds the model's context. */
        CONTEXT_OVERFLOW,
        /** An error of the provider, or no connection to it. */
        UNAVAILABLE,
        /** The request was sent, and the connection broke before the end of the answer. */
        INTERRUPTED,
        /** The request was sent, and the answer did not end in time. */
        TIMED_OUT,
        /** An answer that does not follow the wire. */
        UNREADABLE
    }

    private final Kind kind;
    private final transient @Nullable Duration retryAfter;
    private final transient @Nullable Tokens usage;
    private final transient @Nullable String requestId;
    private final boolean begun;

    /**
     * @param retryAfter minimum delay that the provider asks for; null if absent
     * @param usage that it has reported all the same; null if absent
     * @param requestId of the provider; null if absent
     */
    public ModelException(Kind kind, String message, @Nullable Duration retryAfter, @Nullable Tokens usage,
            @Nullable String requestId) {
        this(kind, message, retryAfter, usage, requestId, false);
    }

    private ModelException(Kind kind, String message, @Nullable Duration retryAfter, @Nullable Tokens usage,
            @Nullable String requestId, boolean begun) {
        super(message);
        this.kind = kind;
        this.retryAfter = retryAfter;
        this.usage = usage;
        this.requestId = requestId;
        this.begun = begun;
    }

    /** The exception for an answer that had begun and not ended. */
    public ModelException amid() {
        return new ModelException(kind, String.valueOf(getMessage()), retryAfter, usage, requestId, true);
    }

    /** Whether the provider may have billed more than the usage. */
    public boolean lost() {
        return begun
                || usage == null && (kind == Kind.INTERRUPTED || kind == Kind.TIMED_OUT || kind == Kind.UNREADABLE);
    }

    public Kind kind() {
        return kind;
    }

    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    public @Nullable Tokens usage() {
        return usage;
    }

    public @Nullable String requestId() {
        return requestId;
    }
}
