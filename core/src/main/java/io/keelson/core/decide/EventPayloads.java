package io.keelson.core.decide;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Judge;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Result;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Builds payloads with facts from several places, and events that follow from a transition without being one. */
final class EventPayloads {
    /** A run's cost is summed up each time so many more tasks have ended, and at its end. */
    static final int SNAPSHOT_EVERY = 100;
    /** Tasks in a snapshot, the most expensive first. */
    static final int SNAPSHOT_TASKS = 20;
    /** Key for the cost of all other tasks in a snapshot: cheaper tasks, and tasks of earlier attempts and plans. */
    static final String OTHERS = "others";
    /** Share of verification in the cost of steps above which an event is written, in percent. */
    private static final BigDecimal MUCH_VERIFICATION = BigDecimal.valueOf(30);
    /** Maximum characters of an output's summary. */
    private static final int SUMMARY = 2_000;

    private EventPayloads() {}

    /** A summary of a run's configuration. */
    static Map<String, Object> summary(RunPolicy policy) {
        Map<String, Object> summary = new LinkedHashMap<>();
        summary.put("max_attempts", policy.maxAttempts());
        summary.put("failure_mode", policy.failures().run().wire());
        summary.put("agent_failure_mode", policy.failures().agent(null).wire());
        summary.put("timeout_seconds", policy.timeouts().running().toSeconds());
        summary.put("approve_plan", policy.approvePlan());
        if (policy.budget().hardLimit() != null) {
            summary.put("hard_limit", policy.budget().hardLimit().toPlainString());
        }
        if (policy.budget().softLimit() != null) {
            summary.put("soft_limit", policy.budget().softLimit().toPlainString());
        }
        return summary;
    }

    /** A task is ready: names the dependency that ended last. */
    static TaskPayload.Queued queued(TaskRow task) {
        TaskRow of = task.group() == null ? task : task.group();
        return new TaskPayload.Queued(of.upstreams.stream().filter(up -> up.completedAt != null)
                .max(Comparator.comparing(up -> up.completedAt)).map(TaskRow::id).orElse(null));
    }

    /** The first dependency of a task that did not end as its rule requires; null if absent. */
    static @Nullable UUID failedDependency(TaskRow task) {
        return task.upstreams.stream().filter(up -> up.state == TaskState.FAILED).findFirst()
                .or(() -> task.upstreams.stream().filter(up -> up.state != TaskState.COMPLETED).findFirst())
                .map(TaskRow::id).orElse(null);
    }

    static TaskPayload.OutputSubmitted submitted(Decision d, TaskRow task, int verifiers) {
        int length = d.yielded == null ? 0 : Math.min(SUMMARY, d.yielded.length());
        return new TaskPayload.OutputSubmitted(task.outputRef(), length, task.tokens, verifiers);
    }

    /** A verifier starts on a task's output. */
    static void verifies(Decision d, TaskRow task, StepSpec verifier) {
        Judge judge = task.spec().policy().judges().get(verifier.name());
        d.note(task, new TaskPayload.VerificationStarted(verifier.tool(),
                judge != null ? judge.model() : d.run.policy().failures().models().verifier()));
    }

    /** Another attempt is scheduled, where the transition's event reports a verdict. */
    static void retrying(Decision d, TaskRow task, double backoffSeconds, PayloadPart.Failure cause) {
        d.note(task, retrying(task, backoffSeconds, cause));
    }

    static TaskPayload.Retrying retrying(TaskRow task, double backoffSeconds, PayloadPart.Failure cause) {
        return new TaskPayload.Retrying(task.attempt + 1, backoffSeconds,
                cause.errorClass().equals(ErrorClass.INFRASTRUCTURE.wire()) ? "infrastructure" : "quality", cause);
    }

    /** An infrastructure failure has ended a task's attempt. */
    static void crashed(Decision d, TaskRow task, StepError error) {
        if (error.errorClass() == ErrorClass.INFRASTRUCTURE) {
            long millis = task.begunAt == null ? 0 : Duration.between(task.begunAt, d.now).toMillis();
            d.note(task, new TaskPayload.Crashed(error.code(), error.message(), millis, error.code()));
        }
    }

    /**
     * Writes an event if the report names another model than the step's. For a worker, a more precise name of the same
     * model is not a difference.
     */
    static void otherModel(Decision d, StepRow step, Result result) {
        AgentTerms terms = Rungs.terms(step.task());
        if (step.spec().kind() != StepKind.TURN && result.asked() != null && result.model() != null) {
            d.note(step.task(), step, new OtherPayload.ModelFallback(step.task().id(), result.asked(), result.model(),
                    fallbackReason(step)));
        }
        if (step.spec().kind() == StepKind.TURN && !Objects.equals(result.model(), d.run.turnModel) && terms != null
                && terms.model() != null && result.model() != null
                && !(terms.runsOn() == RunsOn.SERVER ? result.model().equals(terms.model())
                        : result.model().startsWith(terms.model()))) {
            d.note(step.task(), step, new OtherPayload.ModelFallback(step.task().id(), terms.model(), result.model(),
                    terms.runsOn() == RunsOn.WORKERS ? "reported by the worker" : fallbackReason(step)));
        }
    }

    /** The deferral of this attempt, else the failure of the earlier ones, which are its task's for a turn. */
    private static String fallbackReason(StepRow step) {
        if (step.deferredFor != null && step.deferredFor.startsWith(Deferral.MODEL)) {
            return "MODEL_BUSY";
        }
        if (step.errorCode != null) {
            return step.errorCode;
        }
        TaskRow task = step.task();
        return step.spec().kind() != StepKind.TURN ? "not independent"
                : task.errorCode != null && ErrorClass.INFRASTRUCTURE.wire().equals(task.errorClass) ? task.errorCode
                        : "an earlier turn's model";
    }

    /** A task has ended and is counted. */
    static void snapshotAfter(Decision d) {
        if ((d.run.tasksCompleted + d.run.tasksFailed + d.run.tasksSkipped) % SNAPSHOT_EVERY == 0) {
            snapshot(d);
        }
    }

    /** Says so where judges and checks have cost more than 30 % of the attempt's steps; those before a retry do not count. */
    static void verificationShare(Decision d) {
        BigDecimal all = BigDecimal.ZERO;
        BigDecimal verifying = BigDecimal.ZERO;
        for (StepRow step : d.view.steps.values()) {
            all = all.add(step.cost);
            verifying = step.spec().kind() == StepKind.VERIFY ? verifying.add(step.cost) : verifying;
        }
        if (verifying.movePointRight(2).compareTo(all.multiply(MUCH_VERIFICATION)) > 0) {
            d.note(new RunPayload.VerificationShare(
                    verifying.movePointRight(2).divide(all, 1, RoundingMode.HALF_EVEN).doubleValue(),
                    verifying.stripTrailingZeros(), all.stripTrailingZeros()));
        }
    }

    /** Sums up the cost of all attempts of the run, by task; does nothing while it is zero. */
    static void snapshot(Decision d) {
        if (d.run.tokens.none() && d.run.cost.signum() == 0) {
            return;
        }
        Map<String, Object> byTask = new LinkedHashMap<>();
        BigDecimal rest = d.run.cost;
        for (TaskRow task : d.view.tasks.values().stream().filter(task -> task.cost.signum() > 0 && !task.isLoop())
                .sorted(Comparator.comparing((TaskRow task) -> task.cost).reversed().thenComparing(TaskRow::id))
                .limit(SNAPSHOT_TASKS).toList()) {
            byTask.put(task.id().toString(), task.cost.stripTrailingZeros().toPlainString());
            rest = rest.subtract(task.cost);
        }
        if (rest.signum() > 0) {
            byTask.put(OTHERS, rest.stripTrailingZeros().toPlainString());
        }
        d.note(new OtherPayload.CostSnapshot(d.run.id(), d.run.cost.stripTrailingZeros(), d.run.tokens, byTask));
    }

    /**
     * The event payload that names who does a task, at the start of its work.
     *
     * @param worker that takes its first step; null for the engine
     */
    static TaskPayload assigned(TaskRow task, @Nullable String worker) {
        AgentTerms terms = Rungs.terms(task);
        if (terms == null) {
            return new TaskPayload.Assigned(null, null, null, null, task.agent().name(), null, null, null, worker);
        }
        return new TaskPayload.Assigned(terms.id(), terms.type(), terms.model(), null,
                terms.slug() == null ? task.agent().name() : terms.slug(), terms.tools(), terms.candidates(),
                terms.runsOn(), worker);
    }
}
