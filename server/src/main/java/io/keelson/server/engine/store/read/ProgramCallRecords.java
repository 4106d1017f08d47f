package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads calls of tools by programs of steps, and the rules of the plan about them. Commits write the calls. */
public final class ProgramCallRecords {

    private static final Sql FIND = Sql.of("""
            select id from task_steps
             where task_id = :task and called_by = :caller and call_effect like :content || '/%' and state <> 'cancelled'
             order by turn""");

    private static final Sql ENDS = Sql.of("""
            select id, tool, state, output::text as output, error_code, error_message from task_steps
             where id = any (:ids) and state_type = 'terminal'""");

    private static final Sql RULES = Sql.of("""
            select s.tool, r.config::text as config, (
                    select task.value::text from jsonb_array_elements(r.plan -> 'tasks') task
                     where task.value ->> 'temp_id' = coalesce(g.key, t.key) limit 1) as task
              from task_steps s
              join orchestration_tasks t on t.id = s.task_id
              join orchestration_runs r on r.id = t.run_id
              left join orchestration_tasks g on g.id = t.group_id
             where s.id = :step""");

    private final Database database;

    public ProgramCallRecords(Database database) {
        this.database = database;
    }

    /**
     * The end of a call.
     *
     * @param state terminal
     * @param output null for a call that has not completed
     * @param errorCode null for a completed call
     */
    public record End(UUID id, String tool, String state, @Nullable JsonNode output, @Nullable String errorCode,
            @Nullable String errorMessage) {}

    /**
     * The rules of a plan about the tools of a step.
     *
     * @param tool of the step
     * @param config of the run
     * @param task in the plan; an empty object for a task of no plan
     */
    public record Rules(String tool, JsonNode config, JsonNode task) {}

    /**
     * The calls of a step with the content, the first one first. Cancelled calls are not among them.
     *
     * @param content tool and digest of the input, as in the effect key of a call
     */
    public List<UUID> find(UUID task, UUID caller, String content) {
        return database.withConnection(c -> FIND.on(c).set("task", task).set("caller", caller)
                .set("content", escape(content)).all(row -> row.getObject("id", UUID.class)));
    }

    private static String escape(String text) {
        return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_");
    }

    /** The calls among these that have ended. */
    public List<End> ends(Collection<UUID> calls) {
        return database.withConnection(
                c -> ENDS.on(c).setUuids("ids", calls).all(ProgramCallRecords::end));
    }

    private static End end(ResultSet row) throws SQLException {
        String output = row.getString("output");
        return new End(row.getObject("id", UUID.class), row.getString("tool"), row.getString("state"),
                output == null ? null : Json.read(output), row.getString("error_code"),
                row.getString("error_message"));
    }

    /** The rules of the plan about the tools of a step; empty for an unknown step. */
    public Optional<Rules> rules(UUID step) {
        return database.withConnection(c -> RULES.on(c).set("step", step).first(row -> {
            String inPlan = row.getString("task");
            return new Rules(row.getString("tool"), Json.read(row.getString("config")),
                    inPlan == null ? Json.object() : Json.read(inPlan));
        }));
    }
}
