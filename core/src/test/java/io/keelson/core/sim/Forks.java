package io.keelson.core.sim;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/**
 * People who start runs from what others have done. In some seeds only, and by chances of its own: see {@link TotalOutage}.
 */
final class Forks {
    private static final int ONE_IN = 4;
    private static final int MAX = 4;
    private static final Actor BOB = Actor.human("bob");

    private final Simulation sim;
    private final Random own;
    private int made;

    private Forks(Simulation sim) {
        this.sim = sim;
        this.own = new Random(sim.seed);
    }

    static void mayHappen(Simulation sim) {
        if (sim.seed % ONE_IN == 1) {
            new Forks(sim).wait(10);
        }
    }

    private void wait(int seconds) {
        sim.in(Duration.ofMillis(own.nextInt(seconds * 1_000)), this::look);
    }

    private void look() {
        List<RunRows> runs = List.copyOf(sim.store.runs());
        if (sim.faultRates.calm() || made == MAX) {
            return;
        }
        if (!runs.isEmpty()) {
            fork(runs.get(own.nextInt(runs.size())));
        }
        wait(40);
    }

    private void fork(RunRows rows) {
        NewRun source = rows.accepted;
        List<TaskSpec> tasks = source.plan().tasks();
        if (tasks.isEmpty() || rows.run.planVersion() > 1) {
            return;
        }
        String from = tasks.get(own.nextInt(tasks.size())).id();
        UUID id = sim.runId(100 + ++made);
        NewRun run = new NewRun(id, source.workspaceId(), "fork", null, source.goal(), source.plan(),
                RandomPlans.name(id), source.configJson(), source.policy(), source.inputsJson(), source.tagsJson(),
                source.outputTemplate(), source.priority(), "fork", null, null, false, "bob",
                new NewRun.Fork(source.id(), from, carried(rows, from)));
        sim.coverage.happened("Fork");
        sim.send(sim.anyNode(), new Command.Create(run, true, BOB), reply -> {
        });
    }

    /** What is done and rests on nothing that is to be done again. */
    private static Map<String, UUID> carried(RunRows rows, String from) {
        Map<String, Saved.Task> done = new HashMap<>();
        rows.tasksNow().stream().filter(task -> task.state() == TaskState.COMPLETED && task.groupId() == null)
                .forEach(task -> done.put(task.key(), task));
        Map<String, UUID> carried = new HashMap<>();
        for (TaskSpec task : rows.accepted.plan().tasks()) {
            Saved.Task holder = done.get(task.id());
            if (holder != null && !task.id().equals(from)
                    && task.dependsOn().stream().map(Dependency::task).allMatch(carried::containsKey)) {
                carried.put(task.id(), holder.reusedFrom() == null ? holder.id() : holder.reusedFrom());
            }
        }
        return carried;
    }
}
