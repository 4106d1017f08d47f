package io.keelson.server.mission.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.policy.RetryPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds retries that cannot begin in time. A backoff counts as work: it is part of a step's task's time, and of the
 * time of agent and run. Waits for people, times, signals and child runs count for none of these, however long they
 * last.
 */
final class TimeCheck {
    /** A shorter one is refused as such. */
    private static final Duration SHORTEST = Duration.ofMillis(100);

    private final Timeouts timeouts;
    private final List<PlanProblem> found = new ArrayList<>();

    private TimeCheck(Timeouts timeouts) {
        this.timeouts = timeouts;
    }

    /** A time that ends something, and the member of the mission that says how long it is. */
    private record Limit(Duration time, String member) {}

    static List<PlanProblem> check(Plan plan, Timeouts timeouts) {
        TimeCheck check = new TimeCheck(timeouts);
        for (int i = 0; i < plan.tasks().size(); i++) {
            check.task(plan.tasks().get(i), "/plan/tasks/" + i);
        }
        return check.found;
    }

    private void task(TaskSpec task, String at) {
        Limit whole = timeouts.agent().compareTo(timeouts.running()) < 0
                ? new Limit(timeouts.agent(), "config.timeouts.agent_seconds")
                : new Limit(timeouts.running(), "config.timeouts.run_max_duration_seconds");
        retry(task.policy().retry(), whole, at + "/retry");
        Duration own = task.policy().timeout();
        Limit attempt = own == null ? new Limit(timeouts.task(), "config.timeouts.task_seconds")
                : new Limit(own, "the task's timeout_seconds");
        Limit first = attempt.time.compareTo(whole.time) < 0 ? attempt : whole;
        steps(task.steps(), first, at + "/steps/");
        steps(task.policy().verify(), first, at + "/verify/");
    }

    private void steps(List<StepSpec> steps, Limit limit, String at) {
        for (int i = 0; i < steps.size(); i++) {
            retry(steps.get(i).retry(), limit, at + i + "/retry");
        }
    }

    private void retry(@Nullable RetryPolicy retry, Limit limit, String at) {
        if (retry != null && limit.time.compareTo(SHORTEST) >= 0 && retry.maxAttempts() > 1 && retry.maxFailures() > 1
                && retry.leastDelay().compareTo(limit.time) >= 0) {
            found.add(new PlanProblem("NEVER_IN_TIME", at, "the second try would begin " + seconds(retry.leastDelay())
                    + " s after the first at the earliest, when " + limit.member + ", " + seconds(limit.time)
                    + " s, is over: lower base_delay_seconds, raise " + limit.member + ", or say max_attempts: 1"));
        }
    }

    private static String seconds(Duration time) {
        return BigDecimal.valueOf(time.toMillis(), 3).stripTrailingZeros().toPlainString();
    }
}
