package io.keelson.client;

import io.keelson.api.Problem;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A call that the server refused or that did not reach it. {@link #code()} is stable and meant for programs; the
 * message is meant for people.
 *
 * <p>Codes made by this library, all with {@link #status()} 0: {@code NO_SERVER_KNOWN}, {@code INVALID_ADDRESS}, {@code SERVER_UNREACHABLE},
 * {@code CONNECTION_LOST}, {@code TLS_FAILED}, {@code CALL_TIMEOUT}, {@code AWAIT_TIMEOUT}, {@code INTERRUPTED}, {@code BAD_ANSWER}.
 */
public final class KeelsonException extends RuntimeException {

    /** The first request under an idempotency key is still in progress. */
    static final String IN_FLIGHT = "IDEMPOTENCY_IN_FLIGHT";

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final transient JsonNode document;
    private final transient List<Problem.Fault> problems;
    private final List<String> allowed;
    private final @Nullable Duration retryAfter;

    private KeelsonException(int status, String code, String message, JsonNode document,
            @Nullable Duration retryAfter, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
        this.code = code;
        this.document = document;
        this.problems =
                document.path("problems").valueStream().map(p -> Json.document(p, Problem.Fault.class)).toList();
        this.allowed = document.path("allowed").valueStream().map(JsonNode::asString).toList();
        this.retryAfter = retryAfter;
    }

    /** A failure on this side of the connection. */
    static KeelsonException local(String code, String message, @Nullable Throwable cause) {
        return new KeelsonException(0, code, message, Json.object(), null, cause);
    }

    /** An answer of 400 or above; its body need not be a problem document. */
    static KeelsonException refused(int status, JsonNode document, @Nullable Duration retryAfter) {
        String code = document.path("code").asString("HTTP_" + status);
        String title = document.path("title").asString("the server answered " + status);
        String detail = document.path("detail").asString("");
        String message = code + ": " + (detail.isEmpty() ? title : detail);
        return new KeelsonException(status, code, message, document, retryAfter, null);
    }

    /** The HTTP status; 0 when there was no answer. */
    public int status() {
        return status;
    }

    /** Stable, UPPER_SNAKE; {@code HTTP_<status>} when the answer named none. */
    public String code() {
        return code;
    }

    /** Everything that is wrong with the request, each with its place; empty when the answer lists nothing. */
    public List<Problem.Fault> problems() {
        return problems == null ? List.of() : problems;
    }

    /** The allowed values, such as the next states of a run; empty if none are named. */
    public List<String> allowed() {
        return allowed;
    }

    /** How long the server asks to wait before the next try; null when it did not say. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    /** The whole problem document (RFC 9457) for members that have no method here; an empty object when none came. */
    public JsonNode document() {
        return document == null ? Json.object() : document;
    }

    /** The message, and a line for each of the {@link #problems()}: a stack trace shows them, the message stays one line. */
    @Override
    @SuppressWarnings("OverrideThrowableToString")
    public String toString() {
        if (problems().size() == 1 && String.valueOf(getMessage()).contains(problems().get(0).message())) {
            Problem.Fault only = problems().get(0);
            return super.toString() + (super.toString().contains(only.pointer()) ? "" : " (" + only.pointer() + ")");
        }
        return super.toString() + problems().stream()
                .map(each -> "\n  " + each.pointer() + " " + each.code() + ": " + each.message())
                .collect(Collectors.joining());
    }

    /** Whether the same call may well succeed later: no connection, a restart, or too many calls at the moment. */
    public boolean isTransient() {
        return switch (code) {
            case "SERVER_UNREACHABLE", "CONNECTION_LOST", "CALL_TIMEOUT", IN_FLIGHT -> true;
            default -> status == 429 || status == 502 || status == 503 || status == 504;
        };
    }
}
