package io.keelson.server.api.http.runs;

import io.keelson.core.run.Explanation;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.Explainer;
import io.keelson.server.engine.store.read.RunSearch;
import io.keelson.server.engine.store.read.ShortReasons;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Adds to the rows of a page of open runs why each is not further: the first reason of its explanation. This reads the tasks of
 * the runs; beyond bounds, a reason that needs no tasks is in its place.
 */
final class RunsNow {

    private static final int MAX_RUNS = 100;
    private static final int MAX_TASKS = 5_000;

    private final Database database;
    private final Explainer explainer;

    RunsNow(Database database, Explainer explainer) {
        this.database = database;
        this.explainer = explainer;
    }

    /** Puts {@code now} into each row; null for a run that has ended, or of which only its many tasks could tell. */
    void addTo(UUID workspace, List<ObjectNode> rows) {
        add(rows, reasons(workspace, rows));
    }

    /** The rows of runs that wait for any of these, with {@code now}. Of runs beyond the bounds, one reason counts. */
    List<ObjectNode> waiting(UUID workspace, List<ObjectNode> rows, Set<WaitsFor> what) {
        Map<UUID, List<Explanation>> reasons = reasons(workspace, rows);
        List<ObjectNode> found =
                rows.stream().filter(row -> WaitsFor.any(what, reasons.getOrDefault(id(row), List.of()))).toList();
        add(found, reasons);
        return found;
    }

    private Map<UUID, List<Explanation>> reasons(UUID workspace, List<ObjectNode> rows) {
        List<UUID> open = new ArrayList<>();
        List<UUID> beyond = new ArrayList<>();
        int tasks = 0;
        for (ObjectNode row : rows) {
            int more = row.get("task_count").asInt();
            if (row.get("state_type").stringValue().equals("terminal")) {
                continue;
            }
            if (open.size() < MAX_RUNS && tasks + more <= MAX_TASKS) {
                tasks += more;
                open.add(id(row));
            } else {
                beyond.add(id(row));
            }
        }
        Map<UUID, List<Explanation>> reasons = new HashMap<>();
        if (!open.isEmpty()) {
            TxFunction<Map<UUID, List<Explanation>>> work = c -> explainer.explain(c, workspace, open);
            reasons.putAll(database.inTransaction(work));
        }
        if (!beyond.isEmpty()) {
            TxFunction<Map<UUID, Explanation>> work = c -> ShortReasons.of(c, workspace, beyond);
            database.withConnection(work).forEach((run, reason) -> reasons.put(run, List.of(reason)));
        }
        return reasons;
    }

    private void add(List<ObjectNode> rows, Map<UUID, List<Explanation>> reasons) {
        Map<UUID, Explanation> first = new HashMap<>();
        reasons.forEach((run, found) -> found.stream().findFirst().ifPresent(reason -> first.put(run, reason)));
        Set<UUID> subjects = first.values().stream().map(RunsNow::subject).filter(Objects::nonNull)
                .collect(Collectors.toSet());
        TxFunction<Map<UUID, Instant>> work = c -> RunSearch.since(c, subjects);
        Map<UUID, Instant> since = subjects.isEmpty() ? Map.of() : database.withConnection(work);
        for (ObjectNode row : rows) {
            Explanation reason = first.get(id(row));
            UUID subject = reason == null ? null : subject(reason);
            row.set("now", reason == null ? null : document(reason, subject == null ? null : since.get(subject)));
        }
    }

    private static @Nullable UUID subject(Explanation reason) {
        return reason.stepId() == null ? reason.taskId() : reason.stepId();
    }

    private static UUID id(ObjectNode row) {
        return UUID.fromString(row.get("id").stringValue());
    }

    private static ObjectNode document(Explanation reason, @Nullable Instant since) {
        return Json.object().put("code", reason.code()).put("text", reason.text()).put("since", Json.time(since))
                .put("until", Json.time(reason.until()));
    }
}
