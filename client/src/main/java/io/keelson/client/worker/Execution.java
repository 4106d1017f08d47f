package io.keelson.client.worker;

import io.keelson.api.money.TokenUsage;
import io.keelson.client.Json;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One assignment from its claim until the server has answered its result. Working until it is finished, lost or
 * abandoned, whichever comes first; the others then change nothing.
 */
final class Execution implements StepContext {

    private enum Phase {
        /** The handler's result will count. */
        WORKING,
        /** There is a result to report. */
        REPORTING,
        /** The lease is gone: nothing is reported. */
        LOST
    }

    private final Assignment assignment;
    private final Runnable onNews;
    private final Uploads uploads;
    private final ProgressBuffer progressBuffer = new ProgressBuffer();
    private final ResultAttachments resultAttachments = new ResultAttachments();
    private volatile Phase phase = Phase.WORKING;
    private volatile boolean cancelled;
    private volatile @Nullable Stop stop;
    private @Nullable Thread thread;

    /** Uploads files to the server. */
    @FunctionalInterface
    interface Uploads {
        /** Answers the upload's id. */
        String send(Assignment assignment, String name, String contentType, Path file);
    }

    /** @param onNews called when there is something to report */
    Execution(Assignment assignment, Runnable onNews, Uploads uploads) {
        this.assignment = assignment;
        this.onNews = onNews;
        this.uploads = uploads;
    }

    /** Says which thread is to be interrupted; false when the work is no longer wanted. */
    synchronized boolean begin(Thread worker) {
        thread = worker;
        return phase == Phase.WORKING;
    }

    /** The handler is done; false when its result is to be dropped. */
    synchronized boolean finish() {
        return leave(Phase.REPORTING);
    }

    /** The server does not want the work: stops the handler. Its result is dropped, unless only the budget is exceeded. */
    synchronized boolean stop(Stop why) {
        if (why == Stop.BUDGET_EXCEEDED) {
            return phase == Phase.WORKING && stop == null && interrupt(why);
        }
        return leave(Phase.LOST) && interrupt(why);
    }

    /** The worker stops before the handler is done: stops the handler, and the step is to be handed back. */
    synchronized boolean abandon() {
        return leave(Phase.REPORTING) && interrupt(null);
    }

    private boolean leave(Phase next) {
        if (phase != Phase.WORKING) {
            return false;
        }
        phase = next;
        return true;
    }

    private boolean interrupt(@Nullable Stop why) {
        stop = why;
        cancelled = true;
        if (thread != null) {
            thread.interrupt();
        }
        return true;
    }

    boolean lost() {
        return phase == Phase.LOST;
    }

    ProgressBuffer journal() {
        return progressBuffer;
    }

    ObjectNode usage() {
        return resultAttachments.usage();
    }

    ObjectNode takeExtras() {
        return resultAttachments.take();
    }

    /** The members that name this execution in every report. */
    ObjectNode reference() {
        return Json.object().put("step_id", assignment.stepId()).put("lease_epoch", assignment.leaseEpoch());
    }

    @Override
    public String stepId() {
        return assignment.stepId();
    }

    @Override
    public String runId() {
        return assignment.runId();
    }

    @Override
    public String taskId() {
        return assignment.taskId();
    }

    @Override
    public String tool() {
        return assignment.tool();
    }

    @Override
    public JsonNode input() {
        return assignment.input();
    }

    @Override
    public <T> T input(Class<T> type) throws StepFailure {
        try {
            return Json.to(assignment.input(), type);
        } catch (IllegalArgumentException e) {
            throw new StepFailure("INPUT_INVALID", ErrorClass.PERMANENT, "input is " + e.getMessage());
        }
    }

    @Override
    public int attempt() {
        return assignment.attempt();
    }

    @Override
    public int leaseEpoch() {
        return assignment.leaseEpoch();
    }

    @Override
    public @Nullable Instant deadline() {
        return assignment.deadline();
    }

    @Override
    public String effectKey() {
        return assignment.effectKey();
    }

    @Override
    public @Nullable Long maxOutputTokens() {
        return assignment.maxOutputTokens();
    }

    @Override
    public @Nullable String traceparent() {
        return assignment.traceparent();
    }

    @Override
    public JsonNode failureContext() {
        return assignment.failureContext();
    }

    @Override
    public JsonNode previousDetails() {
        return assignment.previousDetails();
    }

    @Override
    public <T> Optional<T> previousDetails(Class<T> type) {
        try {
            return previousDetails().isNull() ? Optional.empty() : Optional.of(Json.to(previousDetails(), type));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    @Override
    public boolean cancelled() {
        return cancelled;
    }

    @Override
    public @Nullable Stop stop() {
        return stop;
    }

    @Override
    public void progress(double fraction, String message) {
        double bounded = Math.min(1, Math.max(0, fraction));
        progressBuffer.progress(Json.object().put("fraction", bounded).put("message", message));
        onNews.run();
    }

    @Override
    public void log(String line) {
        progressBuffer.log(line);
        onNews.run();
    }

    @Override
    public void details(Object value) {
        progressBuffer.details(Json.of(value));
        onNews.run();
    }

    @Override
    public void artifact(String name, String contentType, byte[] content) {
        resultAttachments.artifact(name, contentType, content);
    }

    @Override
    public void artifact(String name, String contentType, Path file) {
        resultAttachments.upload(uploads.send(assignment, name, contentType, file));
    }

    @Override
    public void propose(String title, @Nullable String body, @Nullable Object data) {
        resultAttachments.propose(title, body, data);
    }

    @Override
    public void usage(long tokens, BigDecimal cost) {
        resultAttachments.usage(tokens, cost);
        used();
    }

    @Override
    public void usage(String model, long tokens) {
        resultAttachments.usage(model, tokens);
        used();
    }

    @Override
    public void usage(String model, TokenUsage tokens) {
        resultAttachments.usage(model, tokens);
        used();
    }

    private void used() {
        progressBuffer.usage(resultAttachments.usage());
        onNews.run();
    }
}
