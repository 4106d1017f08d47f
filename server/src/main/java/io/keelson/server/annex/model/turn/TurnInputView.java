package io.keelson.server.annex.model.turn;

import io.keelson.core.money.Tokens;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.policy.ErrorClass;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The input of a turn by its members. */
record TurnInputView(JsonNode json) {

    JsonNode member(String name) {
        return json.path(name);
    }

    /** Null where it is missing, and empty. */
    @Nullable String text(String name) {
        String text = json.path(name).asString("");
        return text.isEmpty() ? null : text;
    }

    List<String> tools() {
        return json.path("tools").valueStream().map(tool -> tool.asString("")).toList();
    }

    /** The turns before this one, the oldest first. */
    JsonNode transcript() {
        return json.path("transcript");
    }

    /** Why the result of the task's last attempt was not accepted; null if absent, and where no result was the reason. */
    @Nullable JsonNode feedback() {
        JsonNode feedback = json.path("feedback");
        return feedback.isObject() && !unanswered() ? feedback : null;
    }

    /** Whether the task's last attempt ended without a result: its worker was lost, or its model gave no answer. */
    boolean unanswered() {
        return ErrorClass.INFRASTRUCTURE.wire().equals(json.path("feedback").path("error_class").asString(""));
    }

    /** The index of the turn that ended the last attempt whose turns are kept; -1 for none. */
    int lastResult() {
        int last = transcript().size() - 1;
        while (last >= 0 && !isResult(transcript().path(last).path("answer"))) {
            last--;
        }
        return last;
    }

    /** Whether a turn's answer was the task's output. */
    static boolean isResult(JsonNode answer) {
        return !answer.has("tool_calls") && !answer.has("again");
    }

    /** The model that the last turn was sent to; empty where that is not known. */
    String lastModel() {
        return transcript().path(transcript().size() - 1).path("answer").path("model_call").path("asked").asString("");
    }

    /** The tokens of the last turn; null where it was sent to another model, or has summarised others. */
    @Nullable Tokens lastUsage(String model) {
        JsonNode usage = transcript().path(transcript().size() - 1).path("answer").path("model_call").path("usage");
        return !lastModel().equals(model) || !usage.isObject() || compaction() == transcript().size() - 1 ? null
                : new Tokens(usage.path("input").asLong(), usage.path("cache_read").asLong(),
                        usage.path("cache_write").asLong(), usage.path("output").asLong(),
                        usage.path("reasoning").asLong());
    }

    /** The schema of the task's output; null for any output. */
    @Nullable JsonNode outputSchema() {
        JsonNode schema = json.path("output_schema");
        return schema.isObject() ? schema : null;
    }

    /** Whether no turn can follow this one. */
    boolean lastTurn() {
        int most = json.path("max_turns").asInt(0);
        return most > 0 && transcript().size() + 1 >= most;
    }

    /** How many turns in a row, the newest last, ended with an answer that could not be used for this reason. */
    int repeated(String code) {
        int count = 0;
        for (int i = transcript().size() - 1; i >= 0 && again(i).path("code").asString("").equals(code); i--) {
            count++;
        }
        return count;
    }

    /** The index of the turn that summarised turns before it, the newest one; -1 for none. */
    int compaction() {
        int last = transcript().size() - 1;
        while (last >= 0 && !again(last).path("code").asString("").equals(AgentTerms.TURNS_COMPACTED)) {
            last--;
        }
        return last;
    }

    /** The number of turns, from the first, that the newest summary takes the place of. */
    int compacted() {
        int at = compaction();
        return at < 0 ? 0 : again(at).path("turns").asInt(0);
    }

    String summary() {
        int at = compaction();
        return at < 0 ? "" : again(at).path("message").asString("");
    }

    /**
     * About how many tokens the next request has: those of the last one and of its answer, and what has come since; 0 where no
     * turn has reported its tokens.
     */
    long nextInput(int bytesPerToken) {
        JsonNode last = transcript().path(transcript().size() - 1);
        long known = 0;
        for (String part : List.of("input", "cache_read", "cache_write", "output")) {
            known += last.at("/answer/model_call/usage").path(part).asLong(0);
        }
        long come = last.path("results").toString().getBytes(StandardCharsets.UTF_8).length;
        return known == 0 ? 0 : known + come / bytesPerToken;
    }

    /** The text of the answer that was cut, if that was the last turn; otherwise empty. */
    String cutText() {
        return repeated(TurnOutput.TRUNCATED) == 0 ? ""
                : transcript().path(transcript().size() - 1).path("answer").path("text").asString("");
    }

    private JsonNode again(int turn) {
        return transcript().path(turn).path("answer").path("again");
    }
}
