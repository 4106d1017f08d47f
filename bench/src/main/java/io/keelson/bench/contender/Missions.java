package io.keelson.bench.contender;

import io.keelson.client.plan.Mission;
import io.keelson.client.plan.TaskBuilder;
import java.util.Map;
import java.util.stream.IntStream;

/** {@link Work} as Keelson's missions. */
final class Missions {
    static final String REMOTE_TOOL = "bench.remote";
    private static final int STEPS = 10;
    private static final Map<String, Object> CHARGE = Map.of("tokens", 100, "cost", 0.002);
    private static final int WIDTH = 99;

    private final int stages;
    private final int items;

    Missions(Place place) {
        stages = place.option("stages", 100);
        items = place.option("items", 1_000);
    }

    Mission of(Work work) {
        Mission mission = Mission.named(work.name()).goal("be measured").start();
        return switch (work) {
            case TEN_STEPS -> mission.task("work", task -> steps(task, STEPS, "noop"));
            case TEN_CHARGED_STEPS -> mission.task("work", task -> steps(task, STEPS, "noop", CHARGE));
            case TEN_LINKED_STEPS -> mission.task("work", Missions::linked);
            case TEN_DURABLE_STEPS -> mission.task("work", task -> steps(task.unchained(), STEPS, "noop"));
            case ONE_STEP -> mission.task("work", task -> steps(task, 1, "noop"));
            case TEN_TASKS -> stage(mission, 0, STEPS - 1);
            case BIG_RUN -> stages(mission);
            case FAN_OUT -> fanOut(mission);
            case TEN_REMOTE_STEPS -> mission.task("work", task -> steps(task, STEPS, REMOTE_TOOL));
            case TEN_DURABLE_REMOTE_STEPS ->
                mission.task("work", task -> steps(task.unchained(), STEPS, REMOTE_TOOL));
        };
    }

    private static TaskBuilder steps(TaskBuilder task, int count, String tool) {
        return steps(task, count, tool, Map.of());
    }

    private static TaskBuilder steps(TaskBuilder task, int count, String tool, Map<String, Object> input) {
        for (int i = 1; i <= count; i++) {
            task.step("s" + i, tool, input);
        }
        return task;
    }

    private static TaskBuilder linked(TaskBuilder task) {
        task.step("s1", "noop", Map.of("output", Map.of("n", 1, "name", "first")));
        for (int i = 2; i <= STEPS; i++) {
            task.step("s" + i, "noop", Map.of("output", Mission.expr(".steps.s" + (i - 1) + ".output")));
        }
        return task;
    }

    private Mission stages(Mission mission) {
        for (int stage = 0; stage < stages; stage++) {
            stage(mission, stage, WIDTH);
        }
        return mission;
    }

    /** Adds {@code width} tasks after the join of the stage before, and a task that joins them. */
    private static Mission stage(Mission mission, int stage, int width) {
        String[] all = IntStream.range(0, width).mapToObj(i -> "t" + stage + "-" + i).toArray(String[]::new);
        for (String id : all) {
            mission.task(id, task -> steps(stage == 0 ? task : task.dependsOn("j" + (stage - 1)), 1, "noop"));
        }
        return mission.task("j" + stage, task -> steps(task.dependsOn(all), 1, "noop"));
    }

    private Mission fanOut(Mission mission) {
        return mission
                .task("one",
                        task -> task.step("list", "noop", Map.of("output", IntStream.range(0, items).boxed().toList())))
                .task("each", task -> steps(task.dependsOn("one").forEach(Mission.expr(".tasks.one.output")), 1,
                        "noop"))
                .task("join", task -> steps(task.dependsOn("each"), 1, "noop"));
    }
}
