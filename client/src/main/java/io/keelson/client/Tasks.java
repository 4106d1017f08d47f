package io.keelson.client;

import io.keelson.api.run.Task;
import io.keelson.api.run.TaskRound;
import io.keelson.api.run.TranscriptEntry;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Single tasks. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Tasks {

    private final Api api;

    Tasks(Api api) {
        this.api = api;
    }

    /** Reads a task. */
    public Task get(String id) {
        return Json.document(api.get(RequestPath.of("/tasks/", id).toString()), Task.class);
    }

    /** The rounds of a task with {@code repeat}, in order. */
    public List<TaskRound> rounds(String id) {
        return Page.all(cursor -> Page.of(
                api.get(RequestPath.of("/tasks/", id, "/rounds").with("cursor", cursor).toString()), TaskRound.class));
    }

    /** The turns, calls and other steps of the task's current attempt, in order. */
    public List<TranscriptEntry> transcript(String id) {
        return transcript(RequestPath.of("/tasks/", id, "/transcript"));
    }

    /** The transcript of one attempt of the task. */
    public List<TranscriptEntry> transcript(String id, int attempt) {
        return transcript(RequestPath.of("/tasks/", id, "/transcript").with("attempt", attempt));
    }

    /** The transcript of all attempts of the task. */
    public List<TranscriptEntry> wholeTranscript(String id) {
        return transcript(RequestPath.of("/tasks/", id, "/transcript").with("history", "true"));
    }

    private List<TranscriptEntry> transcript(RequestPath path) {
        return Page.all(cursor -> Page.of(api.get(path.with("cursor", cursor).toString()), TranscriptEntry.class));
    }

    /**
     * Approves the output of a task that waits for a person.
     *
     * @param gate the attempt that the decision is about, from {@link Task#gate()}; null for whichever waits
     */
    public Task approve(String id, @Nullable Integer gate, @Nullable String reason) {
        return act(id, "/approve", Json.object().put("gate", gate).put("reason", reason), false);
    }

    /** Rejects the output of a task that waits for a person; the task fails. */
    public Task reject(String id, @Nullable Integer gate, @Nullable String reason) {
        return act(id, "/reject", Json.object().put("gate", gate).put("reason", reason), false);
    }

    /** Rejects the output and asks for another attempt, with the reason as feedback. */
    public Task rejectAndRetry(String id, @Nullable Integer gate, @Nullable String reason) {
        return act(id, "/reject", Json.object().put("gate", gate).put("reason", reason).put("retry", true), false);
    }

    /** Begins the next attempt of a task, or of its step, now instead of after its backoff. */
    public Task retry(String id) {
        return act(id, "/retry", Json.object(), false);
    }

    /** Ends a task; running tools are interrupted. */
    public Task cancel(String id, @Nullable String reason) {
        return act(id, "/cancel", Json.object().put("reason", reason), true);
    }

    /** Skips the task; the run continues without it. */
    public Task skip(String id, @Nullable String reason) {
        return act(id, "/skip", Json.object().put("reason", reason), true);
    }

    private Task act(String id, String action, JsonNode body, boolean repeatable) {
        Call call = Call.post(RequestPath.of("/tasks/", id, action), body);
        return Json.document(api.send(repeatable ? call.repeatable() : call).body(), Task.class);
    }
}
