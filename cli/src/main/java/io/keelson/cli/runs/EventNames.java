package io.keelson.cli.runs;

import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.client.Runs;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Names the subjects of a run's events as in its plan; uses the id for items that are no longer listed. */
final class EventNames {

    /** In larger runs nothing is looked up: the lists would take longer than the events. */
    private static final int MAX_STEPS = 2_000;
    private static final Duration READ_INTERVAL = Duration.ofSeconds(2);

    private final Runs runs;
    private final String run;
    private final Clock clock;
    private final Map<String, String> names = new HashMap<>();
    /** By the run's attempt. */
    private final Map<Integer, Instant> nextRead = new HashMap<>();

    EventNames(Runs runs, String run, Clock clock) {
        this.runs = runs;
        this.run = run;
        this.clock = clock;
    }

    /** The subject of an event, such as {@code task draft} or {@code step draft/write}; empty for an event of the run itself. */
    String subject(JsonNode event) {
        boolean ofStep = event.path("step_id").isString();
        String id = event.path(ofStep ? "step_id" : "task_id").asString("");
        if (id.isEmpty()) {
            return "";
        }
        int attempt = event.path("attempt").asInt(1);
        if (!names.containsKey(id) && !clock.instant().isBefore(nextRead.getOrDefault(attempt, Instant.MIN))) {
            look(attempt);
        }
        return (ofStep ? "step " : "task ") + names.getOrDefault(id, id);
    }

    private void look(int attempt) {
        if (runs.get(run).stepsTotal() <= MAX_STEPS) {
            for (Task task : runs.tasks(run, attempt)) {
                names.put(task.id(), task.key());
            }
            for (Step step : runs.steps(run, attempt)) {
                names.put(step.id(), names.getOrDefault(step.taskId(), step.taskId()) + "/" + step.name());
            }
        }
        nextRead.put(attempt, clock.instant().plus(READ_INTERVAL));
    }
}
