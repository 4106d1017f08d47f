package io.keelson.client.worker;

import io.keelson.api.money.TokenUsage;
import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Progress;
import io.keelson.api.worker.ReportedUsage;
import io.keelson.api.worker.WorkItem;
import io.keelson.client.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One step from its claim until the server has answered its result. Working until it is finished, lost or
 * abandoned, whichever comes first; the others then change nothing.
 */
final class Execution implements StepContext {

    private static final int COST_SCALE = 6;

    private enum Phase {
        /** The handler's result will count. */
        WORKING,
        /** There is a result to report. */
        REPORTING,
        /** The lease is gone: nothing is reported. */
        LOST
    }

    private final WorkItem item;
    private final @Nullable Gateway gateway;
    private final Runnable onNews;
    private final Uploads uploads;
    private final ProgressBuffer progressBuffer;
    private final ResultAttachments resultAttachments = new ResultAttachments();
    private volatile Heartbeat use;
    private volatile Phase phase = Phase.WORKING;
    private volatile boolean cancelled;
    private volatile long leased;
    private volatile long signed;
    private volatile @Nullable Stop stop;
    private @Nullable Thread thread;
    private volatile @Nullable Runnable onEnd;

    /** Uploads files to the server. */
    @FunctionalInterface
    interface Uploads {
        /** Answers the upload's id. */
        UUID send(WorkItem item, String name, String contentType, Path file);
    }

    /**
     * @param server base address of the server
     * @param onNews called when there is something to report
     */
    Execution(WorkItem item, URI server, Runnable onNews, Uploads uploads) {
        this.item = item;
        this.gateway = item.gateway() == null ? null : new Gateway(server, item.gateway().token());
        this.progressBuffer = new ProgressBuffer(item.stepId(), item.leaseEpoch());
        this.use = progressBuffer.empty();
        this.onNews = onNews;
        this.uploads = uploads;
    }

    /** Sets an action for the time when the server has answered the report, or the lease is lost. */
    void onEnd(Runnable action) {
        onEnd = action;
    }

    /** The execution has given its slot back. */
    void ended() {
        Runnable action = onEnd;
        onEnd = null;
        if (action != null) {
            action.run();
        }
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

    /** The steps to execute after this one, before its result is reported. */
    List<WorkItem> following() {
        return item.following().stream().map(item::of).toList();
    }

    boolean lost() {
        return phase == Phase.LOST;
    }

    void leaseBegins() {
        leased = System.nanoTime();
        signed = leased;
    }

    /** {@link System#nanoTime()} of the begin of its lease. */
    long leased() {
        return leased;
    }

    /** {@link System#nanoTime()} of the last heartbeat that the server got, or of the begin of its lease. */
    long signed() {
        return signed;
    }

    void signed(long nanoTime) {
        signed = nanoTime;
    }

    ProgressBuffer journal() {
        return progressBuffer;
    }

    /** The sum of the use since the claim. */
    Heartbeat use() {
        return use;
    }

    ResultAttachments.Taken takeAttachments() {
        return resultAttachments.take();
    }

    @Override
    public String stepId() {
        return item.stepId().toString();
    }

    @Override
    public String runId() {
        return item.runId().toString();
    }

    @Override
    public String taskId() {
        return item.taskId().toString();
    }

    @Override
    public String tool() {
        return item.tool();
    }

    @Override
    public JsonNode input() {
        return item.input();
    }

    @Override
    public <T> T input(Class<T> type) throws StepFailure {
        try {
            return Json.to(item.input(), type);
        } catch (IllegalArgumentException e) {
            throw new StepFailure("INPUT_INVALID", ErrorClass.PERMANENT, "input is " + e.getMessage());
        }
    }

    @Override
    public int attempt() {
        return item.attempt();
    }

    @Override
    public int leaseEpoch() {
        return item.leaseEpoch();
    }

    @Override
    public @Nullable Instant deadline() {
        return item.deadline();
    }

    @Override
    public String effectKey() {
        return item.effectKey();
    }

    @Override
    public @Nullable Long maxOutputTokens() {
        return item.maxOutputTokens();
    }

    @Override
    public @Nullable Gateway gateway() {
        return gateway;
    }

    @Override
    public @Nullable String traceparent() {
        return item.traceparent();
    }

    @Override
    public JsonNode failureContext() {
        return item.failureContext();
    }

    @Override
    public JsonNode previousDetails() {
        return item.details();
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
        progressBuffer.progress(new Progress(bounded, message));
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
        resultAttachments.upload(uploads.send(item, name, contentType, file));
    }

    @Override
    public void propose(String title, @Nullable String body, @Nullable Object data) {
        resultAttachments.propose(title, body, data);
    }

    @Override
    public void usage(long tokens, BigDecimal cost) {
        checkCount(tokens);
        if (cost.signum() < 0) {
            throw new IllegalArgumentException("the cost of a use is not negative: " + cost);
        }
        used(empty().using(tokens, null, cost.setScale(COST_SCALE, RoundingMode.HALF_UP), null));
    }

    @Override
    public void usage(String model, long tokens) {
        checkCount(tokens);
        used(empty().using(tokens, null, null, model));
    }

    @Override
    public void usage(String model, TokenUsage tokens) {
        LongStream.of(tokens.input(), tokens.cacheRead(), tokens.cacheWrite(), tokens.output(), tokens.reasoning())
                .forEach(Execution::checkCount);
        used(empty().using(0, new ReportedUsage(tokens.input(), tokens.cacheRead(), tokens.cacheWrite(),
                tokens.output(), tokens.reasoning()), null, model));
    }

    private static void checkCount(long tokens) {
        if (tokens < 0) {
            throw new IllegalArgumentException("the number tokens of a use is not negative: " + tokens);
        }
    }

    private Heartbeat empty() {
        return progressBuffer.empty();
    }

    private void used(Heartbeat sum) {
        synchronized (this) {
            use = sum;
            progressBuffer.use(sum);
        }
        onNews.run();
    }
}
