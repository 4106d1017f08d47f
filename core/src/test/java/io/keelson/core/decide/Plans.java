package io.keelson.core.decide;

import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Plans for tests, said briefly. */
final class Plans {

    /** Nothing is tried twice. */
    static final RetryPolicy ONCE = new RetryPolicy(1, 1, Duration.ofSeconds(1), Duration.ofSeconds(1), 2, 0);

    private Plans() {}

    static final class T {
        final String id;
        private final List<Dependency> on = new ArrayList<>();
        private final List<StepSpec> steps = new ArrayList<>();
        private TriggerRule rule = TriggerRule.ALL_SUCCESS;
        private String agent;
        private String when;
        private String forEach;
        private String output;
        private TaskPolicy policy = TaskPolicy.DEFAULT;
        private RetryPolicy retry = RetryPolicy.STEP;
        private boolean parallel;

        private T(String id) {
            this.id = id;
        }

        T on(String... upstreams) {
            Arrays.stream(upstreams).forEach(up -> on.add(new Dependency(up, true)));
            return this;
        }

        T rule(TriggerRule rule) {
            this.rule = rule;
            return this;
        }

        T agent(String name) {
            this.agent = name;
            return this;
        }

        T when(String expression) {
            this.when = expression;
            return this;
        }

        T forEach(String expression) {
            this.forEach = expression;
            return this;
        }

        T output(String template) {
            this.output = template;
            return this;
        }

        T parallel() {
            this.parallel = true;
            return this;
        }

        T steps(int count) {
            for (int i = 0; i < count; i++) {
                step("s" + (steps.size() + 1), StepKind.TOOL);
            }
            return this;
        }

        T step(String name, StepKind kind) {
            steps.add(spec(name, kind));
            return this;
        }

        T step(StepSpec spec) {
            steps.add(spec);
            return this;
        }

        private StepSpec spec(String name, StepKind kind) {
            return new StepSpec(name, kind, kind == StepKind.TOOL ? "noop" : kind.wire(), "{}", retry,
                    Duration.ofSeconds(30));
        }

        /** Steps with the most tokens that each may use. */
        T steps(int count, WorstCase most) {
            for (int i = 0; i < count; i++) {
                steps.add(spec("s" + (steps.size() + 1), StepKind.TOOL).within(most));
            }
            return this;
        }

        /** Of the steps that follow. */
        T retry(RetryPolicy policy) {
            this.retry = policy;
            return this;
        }

        T mode(FailureMode mode) {
            return policy(new TaskPolicy(mode, policy.retry(), policy.verify(), policy.review(), policy.timeout()));
        }

        /** Of the task as a whole. */
        T taskRetry(RetryPolicy own) {
            return policy(new TaskPolicy(policy.failureMode(), own, policy.verify(), policy.review(),
                    policy.timeout(), policy.agent(), policy.label(), policy.thresholds(), policy.budget(),
                    policy.judges(), policy.ladder(), policy.untrusted(), policy.unchained(), policy.repeat(),
                    policy.flow(), policy.undo(), policy.undoes(), policy.approvals(), policy.reuse()));
        }

        T verify(String... names) {
            List<StepSpec> verify = Arrays.stream(names).map(name -> spec(name, StepKind.VERIFY)).toList();
            return policy(new TaskPolicy(policy.failureMode(), policy.retry(), verify, policy.review(),
                    policy.timeout()));
        }

        /** @param least null for none */
        T threshold(String verifier, BigDecimal least) {
            return policy(policy.withThresholds(least == null ? Map.of() : Map.of(verifier, least)));
        }

        /** A person has the last word. */
        T review() {
            return policy(new TaskPolicy(policy.failureMode(), policy.retry(), policy.verify(), true,
                    policy.timeout()));
        }

        /** So many people approve each of its questions. */
        T approvals(int people) {
            return policy(policy.approvedBy(people));
        }

        /** What it may cost at most, in credits. */
        T budget(String most) {
            return policy(policy.costing(new BigDecimal(most)));
        }

        /** @param rounds null for a task that is done once */
        T repeat(Repeat rounds) {
            return policy(policy.repeated(rounds));
        }

        T timeout(Duration own) {
            return policy(new TaskPolicy(policy.failureMode(), policy.retry(), policy.verify(), policy.review(), own));
        }

        T policy(TaskPolicy own) {
            this.policy = own;
            return this;
        }

        private TaskSpec spec() {
            if (steps.isEmpty()) {
                steps(1);
            }
            return new TaskSpec(id, id, null, TaskType.OTHER, agent, on, rule, when, forEach, output, parallel, steps,
                    null, policy);
        }
    }

    static T task(String id) {
        return new T(id);
    }

    static Plan plan(T... tasks) {
        return new Plan(1, Arrays.stream(tasks).map(T::spec).toList());
    }

    static Plan plan(List<T> tasks) {
        return new Plan(1, tasks.stream().map(T::spec).toList());
    }
}
