package io.keelson.client.worker;

import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Report;
import io.keelson.api.worker.ReportAnswer;
import io.keelson.api.worker.WorkItem;
import io.keelson.client.Backoff;
import io.keelson.client.KeelsonException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sends results in batches, retries until each is answered, and claims steps for the slots that they free. */
final class ResultReporter {

    private static final System.Logger LOG = System.getLogger(ResultReporter.class.getName());
    private static final int BATCH = 100;
    /** Waiting results with which a second request begins. With fewer, commits would be smaller. */
    private static final int BESIDE = 16;
    /** Requests at a time. */
    static final int SENDERS = 2;
    /** The usual wait of a result for results of quick steps at work: one request and one commit have them all. */
    static final Duration GATHERING = Duration.ofMillis(1);

    /** The result of an execution. */
    record Result(Execution execution, ExecutionResult outcome) {}

    /** A result on its way to the server. Confined to the thread that reports it. */
    private static final class Pending {
        private final Execution execution;
        private final ExecutionResult outcome;
        private final CountDownLatch settled;
        private Heartbeat notes;

        private Pending(Result result, CountDownLatch settled) {
            this.execution = result.execution;
            this.outcome = result.outcome;
            this.settled = settled;
            this.notes = execution.journal().empty();
        }

        private Report report() {
            return outcome.report().apply(notes);
        }
    }

    private final Dispatch dispatch;
    private final Heartbeats heartbeats;
    private final Slots slots;
    private final BooleanSupplier claims;
    private final BooleanSupplier soon;
    private final long gathering;
    private final Consumer<WorkItem> onWork;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Pending> waiting = new ArrayList<>();
    private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));
    /** Threads that send results, or wait to send them again. */
    private int sending;

    /**
     * @param claims whether the worker takes further steps
     * @param soon whether steps at work are expected to end within this time
     * @param gathering longest wait of a result for results of such steps
     * @param onWork takes such a step, before the slot of a reported one is free
     */
    ResultReporter(Dispatch dispatch, Heartbeats heartbeats, Slots slots, BooleanSupplier claims, BooleanSupplier soon,
            Duration gathering, Consumer<WorkItem> onWork) {
        this.dispatch = dispatch;
        this.heartbeats = heartbeats;
        this.slots = slots;
        this.claims = claims;
        this.soon = soon;
        this.gathering = gathering.toNanos();
        this.onWork = onWork;
    }

    void add(Execution execution, ExecutionResult outcome) {
        add(List.of(new Result(execution, outcome)));
    }

    /**
     * Sends results in this order, in one request if possible.
     *
     * @return counts the results without an answer
     */
    CountDownLatch add(List<Result> results) {
        CountDownLatch settled = new CountDownLatch(results.size());
        enqueue(results.stream().map(result -> new Pending(result, settled)).toList());
        return settled;
    }

    private void enqueue(List<Pending> reports) {
        lock.lock();
        try {
            boolean first = waiting.isEmpty();
            waiting.addAll(reports);
            if (first || complete()) {
                changed.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Reports until the thread is interrupted. {@link #SENDERS} threads do. */
    void run() {
        try {
            while (true) {
                List<Pending> batch = take();
                try {
                    TimeUnit.NANOSECONDS.sleep(deliver(batch).toNanos());
                } finally {
                    endSending();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** All results that wait, as soon as they are to be sent. */
    private List<Pending> take() throws InterruptedException {
        lock.lock();
        try {
            long left = gathering;
            while (waiting.isEmpty() || !complete() && left > 0) {
                if (waiting.isEmpty() || sending > 0) {
                    changed.await();
                    left = gathering;
                } else {
                    left = changed.awaitNanos(left);
                }
            }
            List<Pending> batch = List.copyOf(waiting);
            waiting.clear();
            sending++;
            return batch;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the results that wait are to be sent without others. */
    private boolean complete() {
        return waiting.size() >= BESIDE || sending == 0 && !soon.getAsBoolean();
    }

    private void endSending() {
        lock.lock();
        try {
            sending--;
        } finally {
            lock.unlock();
        }
    }

    private Duration delay(@Nullable Duration wish) {
        lock.lock();
        try {
            return backoff.next(wish);
        } finally {
            lock.unlock();
        }
    }

    private void resetBackoff() {
        lock.lock();
        try {
            backoff.reset();
        } finally {
            lock.unlock();
        }
    }

    /** Sends everything once; what got no answer is queued again. Answers how long to wait before the next try. */
    private Duration deliver(List<Pending> batch) {
        for (Pending report : batch) {
            if (report.outcome.kind().hasNotes()) {
                report.notes = heartbeats.takeNotes(report.execution, report.notes);
            }
        }
        try {
            heartbeats.flush(executions(batch));
        } catch (KeelsonException e) {
            if (Refusal.mayPass(e)) {
                return later(batch, e);
            }
            LOG.log(Level.WARNING, "final reports of {0} rejected: {1}",
                    LogText.count(batch.size(), "step"), e.getMessage());
        }
        Duration delay = Duration.ZERO;
        for (List<Pending> part : parts(batch)) {
            Duration wish = send(part);
            delay = wish.compareTo(delay) > 0 ? wish : delay;
        }
        return delay;
    }

    private static List<Execution> executions(List<Pending> reports) {
        return reports.stream().map(report -> report.execution).toList();
    }

    /** By route, in calls of bounded size; what carries artifacts goes alone. */
    private static List<List<Pending>> parts(List<Pending> batch) {
        List<List<Pending>> parts = new ArrayList<>();
        for (ExecutionResult.Kind kind : ExecutionResult.Kind.values()) {
            List<Pending> part = new ArrayList<>();
            for (Pending report : batch) {
                if (report.outcome.kind() != kind) {
                    continue;
                }
                if (report.outcome.isAlone()) {
                    parts.add(List.of(report));
                    continue;
                }
                if (part.isEmpty() || part.size() == BATCH) {
                    part = new ArrayList<>();
                    parts.add(part);
                }
                part.add(report);
            }
        }
        return parts;
    }

    private Duration send(List<Pending> part) {
        List<Report> items = part.stream().map(Pending::report).toList();
        try {
            Dispatch.Reported reported = dispatch.report(part.get(0).outcome.kind(), items,
                    claims.getAsBoolean() ? Math.max(1, slots.count(executions(part))) : 0);
            resetBackoff();
            reported.claimed().forEach(onWork);
            return settleAll(part, reported.answers());
        } catch (KeelsonException e) {
            if (Refusal.mayPass(e)) {
                return later(part, e);
            }
            if (part.size() == 1) {
                refused(part.get(0), e.code(), LogText.detail(e));
                part.get(0).settled.countDown();
            } else {
                part.forEach(report -> send(List.of(report)));
            }
            return Duration.ZERO;
        }
    }

    private Duration settleAll(List<Pending> part, List<@Nullable ReportAnswer> answers) {
        List<Pending> unanswered = new ArrayList<>();
        List<Execution> settled = new ArrayList<>();
        for (int i = 0; i < part.size(); i++) {
            ReportAnswer answer = answers.get(i);
            if (answer == null) {
                unanswered.add(part.get(i));
            } else if (settle(part.get(i), answer)) {
                settled.add(part.get(i).execution);
            }
        }
        slots.free(settled);
        part.stream().filter(report -> !unanswered.contains(report)).forEach(report -> report.settled.countDown());
        if (!unanswered.isEmpty()) {
            enqueue(unanswered);
        }
        return unanswered.isEmpty() ? Duration.ZERO : delay(null);
    }

    /** True when its slot is to be freed; a refused report frees its own. */
    private boolean settle(Pending report, ReportAnswer answer) {
        return switch (answer.status()) {
            case "ok", "duplicate" -> {
                // before the slot is free, so that the worker never seems idle in between
                if (answer.next() != null) {
                    onWork.accept(answer.next());
                }
                yield true;
            }
            case "conflict", "stale_lease", "not_found" -> {
                LOG.log(Level.INFO, "result of step {0} is no longer accepted ({1})", report.execution.stepId(),
                        answer.status());
                yield true;
            }
            default -> {
                refused(report, Objects.requireNonNullElse(answer.code(), "RESULT_REFUSED"),
                        Objects.requireNonNullElse(answer.detail(), answer.status()));
                yield false;
            }
        };
    }

    /** The server rejects this result permanently: the step fails instead, with the server's reason. */
    private void refused(Pending report, String code, @Nullable String reason) {
        LOG.log(Level.ERROR, "result of step {0} rejected: {1} {2}", report.execution.stepId(), code, reason);
        String message = "the server refused the result: " + reason;
        if (report.outcome.isLast()) {
            slots.free(report.execution);
        } else if (report.outcome.kind() == ExecutionResult.Kind.FAIL) {
            add(report.execution, ExecutionResult.bareFailure(new StepFailure(code, ErrorClass.PERMANENT, message),
                    report.execution));
        } else {
            add(report.execution, ExecutionResult.failure(new StepFailure(code, ErrorClass.QUALITY, message),
                    report.execution));
        }
    }

    private Duration later(List<Pending> part, KeelsonException e) {
        enqueue(part);
        Duration delay = delay(e.retryAfter());
        LOG.log(Level.WARNING, "could not deliver {0}, retrying in {1}: {2}", LogText.count(part.size(), "result"),
                LogText.seconds(delay), e.getMessage());
        return delay;
    }
}
