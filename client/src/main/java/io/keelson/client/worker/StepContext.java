package io.keelson.client.worker;

import io.keelson.api.money.TokenUsage;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One execution of a step, as its handler sees it. Reports reach the server within about a second, and always before
 * the step's end. Safe for use by the handler's own threads.
 */
public interface StepContext {

    String stepId();

    String runId();

    String taskId();

    /** The tool's name. */
    String tool();

    /** The input, its expressions resolved. */
    JsonNode input();

    /**
     * The input as a class of yours.
     *
     * @throws StepFailure {@code INPUT_INVALID}, permanent, when it does not fit
     */
    <T> T input(Class<T> type) throws StepFailure;

    /** From 1; rises after a failure, not after a lost worker. */
    int attempt();

    /** The lease epoch; rises with every claim of the step. */
    int leaseEpoch();

    /** When the server stops waiting, by the server's clock; null for never. */
    @Nullable Instant deadline();

    /** A key that is equal in all executions of the step, for deduplication by external systems. */
    String effectKey();

    /**
     * The header {@code traceparent} of W3C Trace Context under which the handler's own spans and calls belong to the run's
     * trace; null where the run has none.
     */
    @Nullable String traceparent();

    /**
     * The tokens of output, reasoning included, that the credits held for the step's worst case pay; pass it to the model's
     * provider. Null where the step has no worst case.
     */
    @Nullable Long maxOutputTokens();

    /** Access to models through the server; null unless the tool is announced with {@link ToolSpec#withGateway()}. */
    @Nullable Gateway gateway();

    /** Why the attempt before failed; a JSON null in the first one. */
    JsonNode failureContext();

    /** The {@link #details} of the execution before this one; a JSON null if it gave none. */
    JsonNode previousDetails();

    /** The {@link #previousDetails()} as a class of yours; empty when there are none or they do not fit. */
    <T> Optional<T> previousDetails(Class<T> type);

    /** Whether the work is no longer wanted (cancelled, timed out, or its lease lost). The thread is interrupted too. */
    boolean cancelled();

    /** Why it is no longer wanted; null while it is, and when the worker itself stops. */
    @Nullable Stop stop();

    /**
     * Says how far the work is.
     *
     * @param fraction from 0 to 1; what lies outside is moved to the nearer end
     */
    void progress(double fraction, String message);

    /** Writes a line for people. Of more than 1,000 lines between two reports the oldest are dropped. */
    void log(String line);

    /**
     * Stores a value for a next execution of this step; replaces the earlier value.
     *
     * @throws IllegalArgumentException when Jackson cannot write it
     */
    void details(Object value);

    /**
     * Adds a file to the result. It is stored with the step's completion and not otherwise.
     *
     * @param content at most 1 MiB, and 8 MiB together with the step's other artifacts
     * @throws IllegalArgumentException when it is larger
     */
    void artifact(String name, String contentType, byte[] content);

    /**
     * Uploads a file of any size at once, in pieces, and adds it to the result. It is stored with the step's completion and
     * removed otherwise.
     *
     * @throws io.keelson.client.KeelsonException when the server does not take it; thrown on by a handler, it is a failure
     *     of the step that is tried again
     */
    void artifact(String name, String contentType, Path file);

    /**
     * Sends people a proposal, only with the step's completion. Nothing waits for their answer.
     *
     * @param title at most 200 characters
     * @param body further text; null if absent
     * @param data structured details for programs; null if absent
     */
    void propose(String title, @Nullable String body, @Nullable Object data);

    /**
     * Says what this execution has used in all so far; the last call counts. The next heartbeat has the server charge it, so
     * that limits hold while the handler works.
     *
     * @param cost in credits
     */
    void usage(long tokens, BigDecimal cost);

    /**
     * Says how many tokens of which model this execution has used in all so far, at the price of output. The last call counts.
     *
     * @param model as the price list calls it
     */
    void usage(String model, long tokens);

    /**
     * Says which tokens of a model this execution has used in all so far, for a charge by the price of each part. The last
     * call counts.
     *
     * @param model as the price list calls it
     */
    void usage(String model, TokenUsage tokens);
}
