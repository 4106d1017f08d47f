package io.keelson.core.sim;

import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.NewRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/** Runs of every shape: DAGs, agents, fan-out, parallel steps, approvals, waits, conditions, tight limits. */
final class RandomPlans {
    /** Tools that nodes run themselves start with it; the others need a remote worker. */
    static final String LOCAL = "local";
    private static final RetryPolicy SLOW = new RetryPolicy(2, 2, Duration.ofSeconds(20), Duration.ofMinutes(2), 2, 0);

    private final Random random;

    RandomPlans(Random random) {
        this.random = random;
    }

    NewRun run(UUID id, UUID workspace) {
        RunPolicy policy = new RunPolicy(chance(25), 3, 1 + random.nextInt(3), 1 + random.nextInt(2),
                1 + random.nextInt(3), 1 + random.nextInt(3), chance(15), 2 + random.nextInt(3), 1 + random.nextInt(2),
                4);
        List<TaskSpec> tasks = new ArrayList<>();
        for (int i = random.nextInt(7); i > 0; i--) {
            tasks.add(task("t" + tasks.size(), tasks.size()));
        }
        return new NewRun(id, workspace, "r", null, "goal", new Plan(1, tasks), "{}", "{}", policy, "{}", "[]",
                chance(30) ? "{}" : null, random.nextInt(3), "manual", null, null, "ann");
    }

    private TaskSpec task(String id, int earlier) {
        List<Dependency> upstreams = new ArrayList<>();
        for (int i = 0; i < earlier; i++) {
            if (chance(35)) {
                upstreams.add(new Dependency("t" + i, chance(70)));
            }
        }
        List<StepSpec> steps = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            steps.add(step("s" + steps.size()));
        }
        TriggerRule rule = chance(60) ? TriggerRule.ALL_SUCCESS
                : TriggerRule.values()[random.nextInt(TriggerRule.values().length)];
        return new TaskSpec(id, id, null, "other", chance(40) ? "agent" + random.nextInt(3) : null, upstreams, rule,
                chance(20) ? "${ . }" : null, chance(15) ? "${ . }" : null, chance(15) ? "\"${ . }\"" : null,
                chance(25), steps, null);
    }

    private StepSpec step(String name) {
        int n = random.nextInt(12);
        StepKind kind = n == 0 ? StepKind.APPROVAL : n <= 2 ? StepKind.WAIT : n <= 5 ? StepKind.TURN : StepKind.TOOL;
        String tool = switch (kind) {
            case TOOL -> chance(50) ? LOCAL : "remote";
            case TURN -> "agent.turn";
            case APPROVAL, WAIT, VERIFY -> kind.wire();
        };
        return new StepSpec(name, kind, tool, "{}", chance(80) ? RetryPolicy.STEP : SLOW,
                Duration.ofSeconds(chance(20) ? 5 : 40));
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }
}
