package io.keelson.server.http.runs;

import io.keelson.core.run.Explanation;
import io.keelson.server.db.Database;
import io.keelson.server.db.TxFunction;
import io.keelson.server.json.Json;
import io.keelson.server.run.read.Explainer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/**
 * Adds to the rows of a page of runs why each is not further: the first reason of its explanation. Only for open runs, and
 * within bounds, as it reads their tasks.
 */
final class RunsNow {

    private static final int MOST_RUNS = 100;
    private static final int MOST_TASKS = 5_000;

    private final Database database;
    private final Explainer explainer;

    RunsNow(Database database, Explainer explainer) {
        this.database = database;
        this.explainer = explainer;
    }

    /** Puts {@code now} into each row; null for a run that has ended or that is beyond the bounds. */
    void addTo(UUID workspace, List<ObjectNode> rows) {
        List<UUID> open = new ArrayList<>();
        int tasks = 0;
        for (ObjectNode row : rows) {
            int more = row.get("task_count").asInt();
            if (!row.get("state_type").stringValue().equals("terminal") && open.size() < MOST_RUNS
                    && tasks + more <= MOST_TASKS) {
                tasks += more;
                open.add(id(row));
            }
        }
        TxFunction<Map<UUID, List<Explanation>>> work = c -> explainer.explain(c, workspace, open);
        Map<UUID, List<Explanation>> reasons = open.isEmpty() ? Map.of() : database.inTransaction(work);
        for (ObjectNode row : rows) {
            List<Explanation> found = reasons.getOrDefault(id(row), List.of());
            row.set("now", found.isEmpty() ? null : document(found.getFirst()));
        }
    }

    private static UUID id(ObjectNode row) {
        return UUID.fromString(row.get("id").stringValue());
    }

    private static ObjectNode document(Explanation reason) {
        return Json.object().put("code", reason.code()).put("text", reason.text()).put("until",
                Json.time(reason.until()));
    }
}
