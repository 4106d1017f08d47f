package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Counters against what they count. */
class CounterAuditTest {

    @Test
    void wrongCountersAreCorrectedWithAnEventForEach() {
        World world = World.start(rules().agent(FailureMode.CONTINUE).policy(),
                plan(task("a").steps(2), task("b"), task("c").on("b")));
        world.complete(world.claim("a"));
        world.fail(world.claim("b"), ErrorClass.PERMANENT);
        RunRow run = world.view.run();
        run.agentCount = 7;
        run.taskCount = 8;
        run.tasksCompleted = 9;
        run.tasksFailed = 10;
        run.tasksSkipped = 11;
        run.stepCount = 12;
        run.stepsCompleted = 13;
        world.watchUntil(world.now.plus(Duration.ofMinutes(2)));
        Map<Object, Object> corrected = world.events("counter_corrected").stream()
                .collect(Collectors.toMap(e -> e.members().get("counter"), e -> e.members().get("is")));
        assertThat(corrected).isEqualTo(Map.of("agent_count", 1, "task_count", 3, "tasks_completed", 0, "tasks_failed",
                1, "tasks_skipped", 1, "steps_total", 4, "steps_completed", 1));
        world.watchUntil(world.now.plus(Duration.ofMinutes(20)));
        assertThat(world.events("counter_corrected")).as("once, for they are right now").hasSize(7);
        assertThat(world.last("counter_corrected").actor()).isEqualTo(Actor.RECONCILER);
    }

    @Test
    void rightCountersAreLeftAlone() {
        World world = World.start(rules().policy(), plan(task("a").steps(2)));
        world.complete(world.claim("a"));
        world.watchUntil(world.now.plus(Duration.ofMinutes(20)));
        assertThat(world.events("counter_corrected")).isEmpty();
    }
}
