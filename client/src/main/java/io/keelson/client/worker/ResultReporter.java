package io.keelson.client.worker;

import io.keelson.client.Backoff;
import io.keelson.client.KeelsonException;
import java.lang.System.Logger.Level;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Sends results in batches and retries until each is answered. */
final class ResultReporter {

    private static final System.Logger LOG = System.getLogger(ResultReporter.class.getName());
    private static final int BATCH = 100;

    private record Report(Execution execution, ExecutionResult outcome) {}

    private final Dispatch dispatch;
    private final Heartbeats heartbeats;
    private final Slots slots;
    private final BooleanSupplier requestNext;
    private final Consumer<Assignment> onNext;
    private final BlockingQueue<Report> queue = new LinkedBlockingQueue<>();
    private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));

    /**
     * @param requestNext whether the worker takes the next step of a task after it has completed one
     * @param onNext takes that step, before the slot of the one before it is free
     */
    ResultReporter(Dispatch dispatch, Heartbeats heartbeats, Slots slots, BooleanSupplier requestNext,
            Consumer<Assignment> onNext) {
        this.dispatch = dispatch;
        this.heartbeats = heartbeats;
        this.slots = slots;
        this.requestNext = requestNext;
        this.onNext = onNext;
    }

    void add(Execution execution, ExecutionResult outcome) {
        queue.add(new Report(execution, outcome));
    }

    /** Reports until the thread is interrupted. */
    void run() {
        try {
            while (true) {
                List<Report> batch = new ArrayList<>();
                batch.add(queue.take());
                queue.drainTo(batch);
                Duration delay = deliver(batch);
                TimeUnit.NANOSECONDS.sleep(delay.toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends everything once; what got no answer is queued again. Answers how long to wait before the next try. */
    private Duration deliver(List<Report> batch) {
        for (Report report : batch) {
            if (report.outcome.kind() != ExecutionResult.Kind.RELEASE) {
                heartbeats.addNotes(report.execution, report.outcome.body());
            }
        }
        try {
            heartbeats.flush(batch.stream().map(Report::execution).toList());
        } catch (KeelsonException e) {
            if (Refusal.mayPass(e)) {
                return later(batch, e);
            }
            LOG.log(Level.WARNING, "final reports of {0} steps rejected: {1}", batch.size(), e.getMessage());
        }
        Duration delay = Duration.ZERO;
        for (List<Report> part : parts(batch)) {
            Duration wish = send(part);
            delay = wish.compareTo(delay) > 0 ? wish : delay;
        }
        return delay;
    }

    /** By route, in calls of bounded size; what carries artifacts goes alone. */
    private static List<List<Report>> parts(List<Report> batch) {
        List<List<Report>> parts = new ArrayList<>();
        for (ExecutionResult.Kind kind : ExecutionResult.Kind.values()) {
            List<Report> part = new ArrayList<>();
            for (Report report : batch) {
                if (report.outcome.kind() != kind) {
                    continue;
                }
                if (report.outcome.hasArtifacts()) {
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

    private Duration send(List<Report> part) {
        List<ObjectNode> items = part.stream()
                .map(report -> (ObjectNode) report.execution.reference().setAll(report.outcome.body())).toList();
        try {
            List<@Nullable JsonNode> answers =
                    dispatch.report(part.get(0).outcome.kind(), items, requestNext.getAsBoolean());
            backoff.reset();
            return settleAll(part, answers);
        } catch (KeelsonException e) {
            if (Refusal.mayPass(e)) {
                return later(part, e);
            }
            if (part.size() == 1) {
                refused(part.get(0), e.code(), e.getMessage());
            } else {
                part.forEach(report -> send(List.of(report)));
            }
            return Duration.ZERO;
        }
    }

    private Duration settleAll(List<Report> part, List<@Nullable JsonNode> answers) {
        List<Report> unanswered = new ArrayList<>();
        List<Execution> settled = new ArrayList<>();
        for (int i = 0; i < part.size(); i++) {
            JsonNode answer = answers.get(i);
            if (answer == null) {
                unanswered.add(part.get(i));
            } else if (settle(part.get(i), answer)) {
                settled.add(part.get(i).execution);
            }
        }
        slots.free(settled);
        queue.addAll(unanswered);
        return unanswered.isEmpty() ? Duration.ZERO : backoff.next(null);
    }

    /** True when its slot is to be freed; a refused report frees its own. */
    private boolean settle(Report report, JsonNode answer) {
        String status = answer.path("status").asString("");
        return switch (status) {
            case "ok", "duplicate" -> {
                takeNext(answer.path("next"));
                yield true;
            }
            case "conflict", "stale_lease", "not_found" -> {
                LOG.log(Level.INFO, "result of step {0} is no longer accepted ({1})", report.execution.stepId(),
                        status);
                yield true;
            }
            default -> {
                refused(report, answer.path("code").asString("RESULT_REFUSED"),
                        answer.path("detail").asString(answer.path("title").asString(status)));
                yield false;
            }
        };
    }

    /** Before the slot is free, so that the worker never seems idle in between. */
    private void takeNext(JsonNode item) {
        if (item.isObject()) {
            try {
                onNext.accept(Assignment.of(item));
            } catch (DateTimeException e) {
                LOG.log(Level.WARNING, "cannot parse a step in a response: {0}", e.getMessage());
            }
        }
    }

    /** The server rejects this result permanently: the step fails instead, with the server's reason. */
    private void refused(Report report, String code, @Nullable String reason) {
        LOG.log(Level.ERROR, "result of step {0} rejected: {1} {2}", report.execution.stepId(), code, reason);
        if (report.outcome.kind() == ExecutionResult.Kind.FAIL
                || report.outcome.kind() == ExecutionResult.Kind.RELEASE) {
            slots.free(report.execution);
        } else {
            String message = "the server refused the result: " + reason;
            add(report.execution, ExecutionResult.failed(new StepFailure(code, ErrorClass.QUALITY, message),
                    report.execution.usage()));
        }
    }

    private Duration later(List<Report> part, KeelsonException e) {
        queue.addAll(part);
        Duration delay = backoff.next(e.retryAfter());
        LOG.log(Level.WARNING, "could not deliver {0} results, retrying in {1}: {2}", part.size(), delay,
                e.getMessage());
        return delay;
    }
}
