package io.keelson.server.engine.store.read;

import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.JsonRows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The turns that a fork takes over from a task of another run. They stay where they are: the fork's origin names, in order, the tasks
 * that hold them, with the attempt and the ordinal of the first step that is not taken over.
 */
public final class CopiedTurns {

    /** The origin's member. */
    public static final String ORIGIN = "copied";

    /**
     * The steps of a task's transcript: copied steps, then the steps of its current attempt. Has the task's id twice as
     * parameter. {@code part} orders the tasks that hold them.
     */
    static final String STEPS = steps("s.task_attempt = t.attempt_number");

    /** The query of {@link #STEPS} with the steps of those attempts instead of the current one's. */
    static String steps(String attempts) {
        return """
                with taken as materialized (
                    select t.key, t.workspace_id, (select r.origin -> 'copied' from orchestration_runs r where r.id = t.run_id) as copied
                      from orchestration_tasks t
                     where t.id = ?)
                select f.part, true as copied, s.*
                  from taken t
                 cross join lateral jsonb_array_elements(case t.copied ->> 'task' when t.key then t.copied -> 'from' end)
                        with ordinality f (source, part)
                 cross join lateral (
                    select s.* from orchestration_steps s
                     where s.task_id = (f.source ->> 'task_id')::uuid and s.workspace_id = t.workspace_id
                       and s.task_attempt = (f.source ->> 'attempt')::int and s.turn < (f.source ->> 'before')::int
                    offset 0) s
                union all
                select 1000, false, s.*
                  from orchestration_tasks t
                  join orchestration_steps s on s.task_id = t.id and {attempts}
                 where t.id = ?""".replace("{attempts}", attempts);
    }

    private static final String HOLDER =
            """
            select h.id, h.state_type, h.attempt_number, o.origin -> 'copied' -> 'from' as earlier,
                coalesce(o.origin -> 'copied' ->> 'task' = h.key, false) as forked
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number
              join orchestration_tasks h on h.id = case when t.reused_from is null then t.id else t.reused_from end
              join orchestration_runs o on o.id = h.run_id
             where (r.workspace_id = ?) is true and r.id = ? and t.key = ? and not t.superseded and t.group_id is null""";

    private static final String TURNS = """
            select p.part, p.turn from (%s) p where p.kind = 'turn' order by p.part, p.position, p.turn"""
            .formatted(STEPS);

    /** @param turns of the task; 0 for a task without turns */
    public record Source(boolean ended, int turns, List<Place> places, ArrayNode holders) {

        /**
         * The member {@link #ORIGIN} of a fork's origin.
         *
         * @param turn the number of the first turn that is not taken over, from 1 to {@link #turns}
         */
        public ObjectNode before(String task, int turn) {
            Place place = places.get(turn - 1);
            ObjectNode copied = Json.object().put("task", task).put("turn", turn);
            ArrayNode from = copied.putArray("from");
            for (int i = 0; i <= Math.min(place.part, holders.size()) - 1; i++) {
                ObjectNode holder = (ObjectNode) holders.get(i).deepCopy();
                from.add(i == place.part - 1 ? holder.put("before", place.ordinal) : holder);
            }
            return copied;
        }

        /** The copied turns before a turn; the fork's calls are answered by {@link RecordedCalls}. */
        public ObjectNode recorded(String task, int turn) {
            ObjectNode copied = before(task, turn);
            ArrayNode tasks = copied.putArray(RecordedCalls.TASKS);
            holders.forEach(holder -> tasks.add(holder.get("task_id")));
            return copied;
        }
    }

    /** The place of a turn: the number of the task that holds it, from 1, and its ordinal there. */
    record Place(int part, int ordinal) {}

    private CopiedTurns() {}

    /** The turns of a task, by its id in the plan, in the run's current attempt; empty for an unknown task. */
    static Optional<Source> of(Connection c, UUID workspace, UUID run, String task) throws SQLException {
        ObjectNode holder = holder(c, workspace, run, task);
        if (holder == null) {
            return Optional.empty();
        }
        ArrayNode holders = Json.array();
        if (holder.get("forked").booleanValue() && holder.get("earlier") instanceof ArrayNode earlier) {
            earlier.forEach(holders::add);
        }
        holders.addObject().put("task_id", holder.get("id").stringValue())
                .put("attempt", holder.get("attempt_number").intValue()).put("before", Integer.MAX_VALUE);
        UUID id = UUID.fromString(holder.get("id").stringValue());
        List<Place> places;
        try (PreparedStatement statement = c.prepareStatement(TURNS)) {
            statement.setObject(1, id);
            statement.setObject(2, id);
            places = JsonRows.list(statement).stream().map(row -> place(row, holders.size())).toList();
        }
        return Optional.of(new Source(holder.get("state_type").stringValue().equals("terminal"), places.size(), places,
                holders));
    }

    private static Place place(JsonNode row, int last) {
        return new Place(Math.min(row.get("part").intValue(), last), row.get("turn").intValue());
    }

    private static @Nullable ObjectNode holder(Connection c, UUID workspace, UUID run, String task)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(HOLDER)) {
            statement.setObject(1, workspace);
            statement.setObject(2, run);
            statement.setString(3, task);
            List<ObjectNode> found = JsonRows.list(statement);
            return found.isEmpty() ? null : found.getFirst();
        }
    }
}
