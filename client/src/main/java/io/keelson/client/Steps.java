package io.keelson.client;

import io.keelson.api.run.Explanation;
import io.keelson.api.run.LogLine;
import io.keelson.api.run.Step;
import io.keelson.api.run.StepAttempt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Single steps. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Steps {

    private final Api api;

    Steps(Api api) {
        this.api = api;
    }

    /** Approves a step that waits for a person. */
    public Step approve(String id, @Nullable String reason) {
        return decide(id, "/approve", reason);
    }

    /** Rejects a step that waits for a person; it fails. */
    public Step reject(String id, @Nullable String reason) {
        return decide(id, "/reject", reason);
    }

    /** Why a step waits, or who executes it. */
    public Explanation explain(String id) {
        return Json.document(api.get(RequestPath.of("/steps/", id, "/explain").toString()), Explanation.class);
    }

    /** Input and result of each lease of the step, oldest first. */
    public List<StepAttempt> attempts(String id) {
        return Page.all(cursor -> Page.of(
                api.get(RequestPath.of("/steps/", id, "/attempts").with("cursor", cursor).toString()),
                StepAttempt.class));
    }

    /** All lines that the step's executors wrote, in order. */
    public List<LogLine> logs(String id) {
        return logs(id, 0);
    }

    /** The lines with a greater {@link LogLine#seq()}, in order. */
    public List<LogLine> logs(String id, long after) {
        return Page.all(cursor -> Page.of(api.get(cursor == null
                ? RequestPath.of("/steps/", id, "/logs").with("after", after).toString()
                : RequestPath.of("/steps/", id, "/logs").with("cursor", cursor).toString()), LogLine.class));
    }

    /** The text that the step will have as its result, while it arrives; ends with the result. */
    public AnswerStream answer(String id) {
        return new AnswerStream(api, id);
    }

    private Step decide(String id, String decision, @Nullable String reason) {
        RequestPath route = RequestPath.of("/steps/", id, decision);
        return Json.document(api.post(route.toString(), Json.object().put("reason", reason)), Step.class);
    }
}
