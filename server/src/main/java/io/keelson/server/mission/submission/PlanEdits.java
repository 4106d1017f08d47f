package io.keelson.server.mission.submission;

import io.keelson.core.run.Command.Approve.Edit;
import io.keelson.core.run.Command.Evaluation.Planned;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.mission.plan.NewPlans;
import io.keelson.server.mission.plan.NewPlans.Checked;
import io.keelson.server.mission.plan.ReadResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/** Checks plans that a person changed before the approval, and lists the changes. Thread-safe. */
public final class PlanEdits {
    /** More changes are counted. */
    private static final int MAX = 50;

    private final Database database;
    private final ScopeReader reader;
    private final NewPlans plans;

    public PlanEdits(Database database, ScopeReader reader, NewPlans plans) {
        this.database = database;
        this.reader = reader;
        this.plans = plans;
    }

    /**
     * @param run that waits for the approval of its plan
     * @param plan of the person; problems point into a document that has it as its {@code plan}
     */
    public ReadResult<Edit> read(UUID run, JsonNode plan) {
        ScopeReader.Replan now = database.withConnection(c -> reader.replan(c, run));
        return switch (plans.edited(now.workspace(), plan, now.config(), now.plan(), now.inputs())) {
            case ReadResult.Ok<Checked>(Checked made) -> new ReadResult.Ok<>(
                    new Edit(new Planned(made.plan(), made.json(), NewPlans.terms(now.config(), made)),
                            changes(now.plan(), Json.read(made.json()))));
            case ReadResult.Invalid<Checked>(var problems) -> new ReadResult.Invalid<>(problems);
        };
    }

    private static List<String> changes(JsonNode before, JsonNode after) {
        Map<String, JsonNode> old = tasks(before);
        Map<String, JsonNode> now = tasks(after);
        Set<String> all = new TreeSet<>(old.keySet());
        all.addAll(now.keySet());
        List<String> changes = new ArrayList<>();
        for (String id : all) {
            JsonNode was = old.get(id);
            JsonNode is = now.get(id);
            if (was == null) {
                changes.add("task " + id + " added");
            } else if (is == null) {
                changes.add("task " + id + " removed");
            } else if (!was.equals(is)) {
                changes.add("task " + id + " changed: " + String.join(", ", members(was, is)));
            }
        }
        int more = changes.size() - MAX;
        if (more > 0) {
            changes.subList(MAX, changes.size()).clear();
            changes.add("and " + more + " more");
        }
        return changes;
    }

    private static Map<String, JsonNode> tasks(JsonNode plan) {
        Map<String, JsonNode> tasks = new HashMap<>();
        plan.path("tasks").forEach(task -> tasks.put(task.path("temp_id").asString(""), task));
        return tasks;
    }

    private static Set<String> members(JsonNode was, JsonNode is) {
        Set<String> members = new TreeSet<>(was.propertyNames());
        members.addAll(is.propertyNames());
        members.removeIf(member -> was.path(member).equals(is.path(member)));
        return members;
    }
}
