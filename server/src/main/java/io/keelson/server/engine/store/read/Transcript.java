package io.keelson.server.engine.store.read;

import io.keelson.core.policy.CallCycle;
import io.keelson.core.policy.Repetition;
import io.keelson.server.base.json.Json;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The turns of an agent in its task's current attempt, in order, each with its answer and the results of its calls. A pure
 * function of the stored turns that only appends: the text of a transcript is the beginning of the next turn's, so that a
 * model's provider finds the common prefix in its cache.
 */
final class Transcript {
    /** Characters of a result. A longer one is shown by its beginning and its end. */
    private static final int RESULT = 32_768;
    private static final int HEAD = 20_000;
    private static final int TAIL = 10_000;
    /** Characters of a whole transcript. */
    private static final int WHOLE = 1_048_576;
    private static final int FETCHED = 50;

    private static final String STEPS = """
            select s.id, s.copied, s.call_effect, s.call_result, s.kind, s.tool, s.state, s.error_code, s.error_message, s.error_class,
                case when s.kind = 'call' then s.resolved_input end as edited,
                case when s.kind = 'turn' or length(o.text) <= %1$d then o.text end as output, length(o.text) as chars,
                case when s.kind = 'call' and length(o.text) > %1$d then left(o.text, %2$d) end as head,
                case when s.kind = 'call' and length(o.text) > %1$d then right(o.text, %3$d) end as tail
              from (%4$s) s
             cross join lateral (select s.output::text as text offset 0) o
             where s.kind in ('turn', 'call') and s.state in ('completed', 'failed', 'skipped')
             order by s.part, s.position, s.turn""".formatted(RESULT, HEAD, TAIL, CopiedTurns.STEPS);

    private final ArrayNode turns = Json.array();
    private ArrayNode results = Json.array();
    private long chars;
    private @Nullable String last;
    private int repeats;
    /** Signatures of the latest calls. */
    private final Deque<Optional<String>> latest = new ArrayDeque<>();

    private Transcript() {}

    /** @throws TranscriptTooLongException if it has more characters than a transcript may have */
    static ArrayNode of(Connection c, UUID task) throws SQLException {
        Transcript transcript = new Transcript();
        try (PreparedStatement statement = c.prepareStatement(STEPS)) {
            statement.setFetchSize(FETCHED);
            statement.setObject(1, task);
            statement.setObject(2, task);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    transcript.add(row);
                }
            }
        }
        return transcript.turns;
    }

    /** The results of calls follow the turn that asked for them. */
    private void add(ResultSet row) throws SQLException {
        boolean done = row.getString("state").equals("completed");
        ObjectNode entry = Json.object();
        if (row.getString("kind").equals("call")) {
            entry.put("tool", row.getString("tool"));
            String edited = row.getString("edited");
            if (edited != null) {
                entry.set("changed_input", Json.read(edited.replace("$${", "${")));
            }
            if (done) {
                result(entry, row);
            } else {
                entry.putObject("error").put("code", row.getString("error_code"))
                        .put("class", row.getString("error_class")).put("message", row.getString("error_message"));
            }
            repeated(entry, row);
            results.add(count(entry));
        } else if (done) {
            entry.set("answer", value(row.getString("output")));
            turns.add(count(entry));
            results = entry.putArray("results");
        }
    }

    /** Tells the agent of equal calls and cycles of calls in a row with equal results. An error's message has this by itself. */
    private void repeated(ObjectNode entry, ResultSet row) throws SQLException {
        String result = row.getString("call_result");
        boolean copied = row.getBoolean("copied");
        String call = result == null ? null
                : copied + Repetition.content(row.getString("call_effect")) + "=" + result;
        repeats = call != null && call.equals(last) ? repeats + 1 : 1;
        last = call;
        String notice = call == null ? null : Repetition.RESULT.notice(repeats);
        String signature = CallCycle.signature(row.getString("call_effect"), result, row.getString("error_code"));
        latest.add(Optional.ofNullable(signature).map(each -> copied + each));
        if (latest.size() > CallCycle.WINDOW) {
            latest.remove();
        }
        CallCycle cycle = notice != null || call == null ? null : cycle();
        if (notice != null || cycle != null) {
            entry.put("notice", cycle == null ? notice : cycle.notice());
        }
    }

    private @Nullable CallCycle cycle() {
        List<@Nullable String> calls = new ArrayList<>();
        latest.forEach(each -> calls.add(each.orElse(null)));
        return CallCycle.of(calls);
    }

    private static void result(ObjectNode into, ResultSet row) throws SQLException {
        String head = row.getString("head");
        if (head == null) {
            into.set("output", value(row.getString("output")));
        } else {
            into.put("output_excerpt", head + "\n[" + (row.getLong("chars") - HEAD - TAIL)
                    + " characters left out]\n" + row.getString("tail"));
            into.put("output_id", row.getString("id")).put("output_chars", row.getLong("chars"));
        }
    }

    private static JsonNode value(@Nullable String json) {
        return Json.read(json == null ? "null" : json);
    }

    private ObjectNode count(ObjectNode entry) {
        chars += entry.toString().length();
        if (chars > WHOLE) {
            throw new TranscriptTooLongException("the agent's turns and their results have more than " + WHOLE
                    + " characters");
        }
        return entry;
    }
}
