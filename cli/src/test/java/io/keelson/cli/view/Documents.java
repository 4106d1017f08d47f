package io.keelson.cli.view;

import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.client.Json;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Documents as the server would send them, with what a test is about and nothing else. */
final class Documents {

    static final Instant BEGIN = Instant.parse("2026-01-02T03:04:05Z");
    static final String RUN = "r";

    private long seq;

    static Run run(String state, String type) {
        Map<String, Object> run = new HashMap<>(Map.of("id", RUN, "name", "report", "state", state, "stateType", type,
                "attemptNumber", 1, "maxAttempts", 3, "taskCount", 3, "tasksCompleted", 2, "startedAt", BEGIN,
                "createdAt", BEGIN));
        if (type.equals("terminal")) {
            run.putAll(Map.of("completedAt", BEGIN.plusSeconds(9), "durationMs", 9_000));
        }
        return Json.to(Json.of(run), Run.class);
    }

    static Run running() {
        return run("running", "running");
    }

    /** An open run that had ended for so many milliseconds before it was retried. */
    static Run reopened(long endedMs) {
        return Json.to(Json.of(Map.of("id", RUN, "name", "report", "state", "running", "stateType", "running",
                "startedAt", BEGIN, "endedMs", endedMs)), Run.class);
    }

    static Run gated(String gate) {
        return Json.to(Json.of(Map.of("id", RUN, "name", "report", "state", "running", "stateType", "running", "gate",
                gate)), Run.class);
    }

    static Task superseded(String key) {
        return Json.to(Json.of(Map.of("id", "old-" + key, "key", key, "title", "", "state", "cancelled", "superseded",
                true)), Task.class);
    }

    static Task task(String key, String... dependsOn) {
        return Json.to(Json.of(Map.of("id", key, "key", key, "title", "Title of " + key, "state", "pending",
                "dependsOn", List.of(dependsOn))), Task.class);
    }

    /** A task with {@code repeat}. */
    static Task loop(String key, int most) {
        return Json.to(Json.of(Map.of("id", key, "key", key, "title", "Title of " + key, "state", "running", "round", 7,
                "maxRounds", most, "dependsOn", List.of())), Task.class);
    }

    static Task round(String loop, int number) {
        return Json.to(Json.of(Map.of("id", loop + number, "key", loop + "[" + number + "]", "title", "", "state",
                "completed", "groupId", loop, "round", number, "dependsOn", List.of())), Task.class);
    }

    static Step step(String id, String taskId, String state, Map<String, ?> input) {
        return Json.to(Json.of(Map.of("id", id, "taskId", taskId, "name", id, "tool", "echo", "state", state, "input",
                input)), Step.class);
    }

    static Step signal(String id, String taskId, String state, String name) {
        return Json.to(Json.of(Map.of("id", id, "taskId", taskId, "name", id, "tool", "signal.wait", "state", state,
                "input", Map.of("name", name))), Step.class);
    }

    Event task(String key, String to) {
        return event(key, null, "task_moved", Map.of("to", to));
    }

    Event step(String task, String id, String to) {
        return event(task, id, "step_moved", Map.of("to", to));
    }

    Event source(String task, String id, String type, String run) {
        return event(task, id, type, Map.of("source_run_id", run));
    }

    Event failed(String key, String code, String message) {
        return event(key, null, "task_failed", Map.of("to", "failed", "error_code", code, "error_message", message));
    }

    Event retried(String task, String id, String code) {
        return event(task, id, "step_retrying", Map.of("to", "awaiting_retry", "error_code", code));
    }

    /** A failure that the failure policy does not let be tried again by itself. */
    Event refused(String task, String id, String code) {
        return event(task, id, "step_retrying", Map.of("to", "awaiting_retry", "error_code", code,
                "remaining_attempts", 1));
    }

    Event run(String to) {
        return event(null, null, "run_moved", Map.of("to", to));
    }

    Event task(String key, String to, Map<String, ?> more) {
        Map<String, Object> payload = new HashMap<>(more);
        payload.put("to", to);
        return event(key, null, "task_moved", payload);
    }

    Event retriedIn(String task, double seconds) {
        return task(task, "awaiting_retry", Map.of("error_code", "X", "retry_after_seconds", seconds));
    }

    Event note(String type, Map<String, ?> payload) {
        return event(null, null, type, payload);
    }

    Event escalated(@Nullable String task, String ticket) {
        return event(task, null, "escalation_opened", Map.of("ticket_id", ticket, "message", "it is broken"));
    }

    Event resolved(String ticket) {
        return event(null, null, "escalation_resolved", Map.of("ticket_id", ticket, "resolution", "resume"));
    }

    /** Each a second after the one before. */
    private Event event(@Nullable String task, @Nullable String step, String type, Map<String, ?> payload) {
        seq++;
        return new Event(seq, seq, RUN, 1, null, task, step, type, Json.of(payload), "system", null,
                BEGIN.plusSeconds(seq));
    }
}
