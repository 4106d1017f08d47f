package io.keelson.server.run.read;

import io.keelson.server.json.Json;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The turns of an agent in its task's current attempt, in order, each with its answer and the results of its calls.
 * Bounded: keeps the beginning of long texts and the end of long transcripts.
 */
final class Transcript {
    /** Characters of one answer or result, and of all of them together. */
    private static final int TEXT = 32_768;
    private static final int WHOLE = 262_144;
    private static final int MAX_STEPS = 1_000;

    /** The newest first. */
    private static final String STEPS = """
            select s.kind, s.tool, s.state, left(s.output::text, %d) as output, s.error_code, s.error_message,
                s.error_class
              from orchestration_tasks t
              join orchestration_steps s on s.task_id = t.id and s.task_attempt = t.attempt_number
             where t.id = ? and s.kind in ('turn', 'call') and s.state in ('completed', 'failed', 'skipped')
             order by s.position desc, s.turn desc limit %d""".formatted(TEXT + 1, MAX_STEPS);

    private final Deque<ObjectNode> turns = new ArrayDeque<>();
    private Deque<ObjectNode> results = new ArrayDeque<>();
    private int chars;
    private boolean full;

    private Transcript() {}

    static ArrayNode of(Connection c, UUID task) throws SQLException {
        Transcript transcript = new Transcript();
        try (PreparedStatement statement = c.prepareStatement(STEPS)) {
            statement.setObject(1, task);
            try (ResultSet row = statement.executeQuery()) {
                int rows = 0;
                while (!transcript.full && row.next()) {
                    rows++;
                    transcript.take(row);
                }
                transcript.full |= rows == MAX_STEPS;
            }
        }
        return transcript.document();
    }

    private ArrayNode document() {
        ArrayNode document = Json.array();
        if (full) {
            document.addObject().put("omitted", "earlier turns");
        }
        turns.forEach(document::add);
        return document;
    }

    /** Rows come newest first, so results of calls precede the turn that asked for them. */
    private void take(ResultSet row) throws SQLException {
        boolean done = row.getString("state").equals("completed");
        ObjectNode entry = Json.object();
        if (row.getString("kind").equals("call")) {
            entry.put("tool", row.getString("tool"));
            if (done) {
                output(entry, "output", row.getString("output"));
            } else {
                entry.putObject("error").put("code", row.getString("error_code"))
                        .put("class", row.getString("error_class")).put("message", row.getString("error_message"));
            }
            results.addFirst(entry);
        } else if (done) {
            output(entry, "answer", row.getString("output"));
            results.forEach(entry.putArray("results")::add);
            results = new ArrayDeque<>();
            turns.addFirst(entry);
        }
        full = chars > WHOLE;
    }

    private void output(ObjectNode into, String name, @Nullable String json) {
        if (json == null) {
            into.putNull(name);
        } else if (json.length() > TEXT) {
            into.put(name + "_begins", json.substring(0, TEXT));
            chars += TEXT;
        } else {
            into.set(name, Json.read(json));
            chars += json.length();
        }
    }
}
