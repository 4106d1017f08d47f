package io.keelson.server.engine.store.read;

import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads rounds of a group with {@code repeat}. A task of a round has the key {@code GROUP[ROUND].NAME}; its id in the plan is {@code
 * GROUP.NAME}.
 */
final class GroupRounds {

    /**
     * A group with a round.
     *
     * @param key the group's id in the plan
     * @param names of the group's tasks
     * @param round of the task by which the group was found; of the group itself, its last round
     * @param after number of the round of another run before the first one; 0 without one
     * @param before the output of that round
     */
    record Group(UUID id, String key, List<String> names, int round, int after, JsonNode before) {

        /** The key of a task in the round, by its id in the plan; that id for a task outside of the group. */
        String keyInRound(String planned) {
            return planned.startsWith(key + ".") && names.contains(planned.substring(key.length() + 1))
                    ? key + "[" + round + "]" + planned.substring(key.length())
                    : planned;
        }
    }

    private static final String GROUP = """
            select g.id, g.key, array(select jsonb_array_elements_text(g.policy #> '{repeat,tasks}'))::text[] as names,
                coalesce(t.item_index, (
                    select max(n.item_index) from orchestration_tasks n
                     where n.run_id = g.run_id and n.attempt = g.attempt and n.group_id = g.id and n.key = any (array(
                        select concat(g.key, '[', i, '].', g.policy #>> '{repeat,tasks,0}')
                          from generate_series(f.folded + 1, f.folded + 1 + (g.policy #>> '{repeat,keep}')::int) i)))) as round,
                a.after, g.policy #>> '{repeat,after,output}' as before
              from orchestration_tasks t
              join orchestration_tasks g on g.id = coalesce(t.group_id, t.id)
             cross join lateral (select coalesce((g.policy #>> '{repeat,after,round}')::int, 0) as after) a
             cross join lateral (
                select coalesce((select max(r.round) from task_rounds r where r.loop_id = g.id), a.after) as folded) f
             where t.id = ? and jsonb_array_length(g.policy #> '{repeat,tasks}') > 0""";

    private static final String OUTPUTS = """
            select split_part(t.key, '].', 2) as name, %s as output
              from orchestration_tasks g
              join orchestration_tasks t on t.run_id = g.run_id and t.attempt = g.attempt and t.key = any (array(
                    select concat(g.key, '[', ?::int, '].', name)
                      from jsonb_array_elements_text(g.policy #> '{repeat,tasks}') name))
             where g.id = ? and t.group_id = g.id
             order by t.id""".formatted(TaskSql.YIELD);

    /** The latest effect generation of a task of a round, of all rows with its key. */
    private static final String GENERATION = """
            select greatest((
                select max(o.effect_generation) from orchestration_tasks o
                 where o.run_id = t.run_id and o.attempt = any (array(select generate_series(1, t.attempt)))
                   and o.key = t.key), (
                select max(r.effect_generation) from orchestration_tasks o join task_rounds r on r.loop_id = o.id
                 where o.run_id = t.run_id and o.attempt = any (array(select generate_series(1, t.attempt)))
                   and o.key = g.key and r.round = t.item_index and r.member = split_part(t.key, '].', 2)), 1) as generation
              from orchestration_tasks t join orchestration_tasks g on g.id = t.group_id
             where t.id = ?""";

    private GroupRounds() {}

    /**
     * The group of a task.
     *
     * @param task of a round, or the group itself
     * @return null for any other task
     */
    static @Nullable Group of(Connection c, UUID task) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(GROUP)) {
            statement.setObject(1, task);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? new Group(ViewLoader.uuid(row, "id"), row.getString("key"),
                                Stream.of((Object[]) row.getArray("names").getArray()).map(Object::toString).toList(),
                                row.getInt("round"), row.getInt("after"), json(row.getString("before")))
                        : null;
            }
        }
    }

    /** The outputs of a round's tasks by their names, null without one; of the round before the first one as the group has it. */
    static JsonNode outputs(Connection c, Group group, int round) throws SQLException {
        if (round <= group.after) {
            return group.before;
        }
        try (PreparedStatement statement = c.prepareStatement(OUTPUTS)) {
            statement.setInt(1, round);
            statement.setObject(2, group.id);
            ObjectNode outputs = Json.object();
            OutputTrees trees = new OutputTrees();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    outputs.set(row.getString("name"), trees.next(row));
                }
            }
            return outputs;
        }
    }

    /** The effect generation with which a task of a round begins; 1 without an earlier one. */
    static int generation(Connection c, UUID task) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(GENERATION)) {
            statement.setObject(1, task);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getInt("generation") : 1;
            }
        }
    }

    private static JsonNode json(@Nullable String text) {
        return text == null ? NullNode.getInstance() : Json.read(text);
    }
}
