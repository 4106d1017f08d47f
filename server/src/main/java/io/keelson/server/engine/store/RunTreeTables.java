package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Child;
import io.keelson.core.decide.ChildRow;
import io.keelson.core.decide.ParentRow;
import io.keelson.core.decide.RunRow;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

/**
 * {@code run_parents}, a child's knowledge of its parent, and {@code run_children}, a parent's knowledge of its
 * children.
 */
final class RunTreeTables {
    private static final List<Column<RunRow>> PARENT = List.of(uuid("run_id", RunRow::id),
            uuid("workspace_id", RunRow::workspaceId), uuid("parent_run_id", run -> parent(run).runId()),
            uuid("parent_step_id", run -> parent(run).stepId()), integer("depth", run -> parent(run).depth()),
            flag("abandon", run -> parent(run).abandon()), money("allotment", run -> parent(run).allotment()),
            integer("seen", run -> parent(run).seen()), flag("held", run -> parent(run).held()));

    static final RowSetStatement<RunRow> INSERT_PARENT = new RowSetStatement<>("keelson_run_parent", """
            insert into run_parents (run_id, workspace_id, parent_run_id, parent_step_id, depth, abandon, allotment,
                seen, held)
            select run_id, workspace_id, parent_run_id, parent_step_id, depth, abandon, allotment, seen, held
              from {rows}""",
            PARENT);

    static final RowSetStatement<RunRow> UPDATE_PARENT = RowSetStatement.ofAll("keelson_run_parent", """
            update run_parents p set allotment = u.allotment, seen = u.seen, held = u.held
              from {rows}
             where p.run_id = u.run_id""", PARENT);

    static final RowSetStatement<Child> PUT_CHILD = new RowSetStatement<>("keelson_run_child",
            """
            insert into run_children (step_id, workspace_id, run_id, child_run_id, task_key, allotment, charged, tokens,
                ended)
            select step_id, workspace_id, run_id, child_run_id, task_key, allotment, charged, tokens, ended from {rows}
            on conflict (step_id) do update
               set allotment = excluded.allotment, charged = excluded.charged, tokens = excluded.tokens, ended = excluded.ended""",
            uuid("step_id", c -> c.row().stepId()), uuid("workspace_id", c -> c.run().workspaceId()),
            uuid("run_id", c -> c.run().id()), uuid("child_run_id", c -> c.row().runId()),
            text("task_key", c -> c.row().task()), money("allotment", c -> c.row().allotment()),
            money("charged", c -> c.row().charged()),
            bigint("tokens", c -> c.row().tokens()), flag("ended", c -> c.row().ended()));

    private static final String LOAD_PARENTS = """
            select run_id, parent_run_id, parent_step_id, depth, abandon, allotment, seen, held
              from run_parents where run_id = any (?)""";

    private static final String LOAD_CHILDREN = """
            select run_id, step_id, child_run_id, task_key, allotment, charged, tokens, ended
              from run_children where run_id = any (?)""";

    private RunTreeTables() {}

    private static ParentRow parent(RunRow run) {
        return Objects.requireNonNull(run.parent());
    }

    /** Queries only runs that have any. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.started.isEmpty()) {
            ViewLoader.each(c, LOAD_PARENTS, loader.started, row -> loader.view(row).run().restoreParent(
                    new ParentRow(ViewLoader.uuid(row, "parent_run_id"), ViewLoader.uuid(row, "parent_step_id"),
                            row.getInt("depth"), row.getBoolean("abandon"), row.getBigDecimal("allotment"),
                            row.getInt("seen"), row.getBoolean("held"))));
        }
        if (!loader.starting.isEmpty()) {
            ViewLoader.each(c, LOAD_CHILDREN, loader.starting, row -> loader.view(row).add(
                    new ChildRow(ViewLoader.uuid(row, "step_id"), ViewLoader.uuid(row, "child_run_id"),
                            row.getString("task_key"), row.getBigDecimal("allotment"), row.getBigDecimal("charged"),
                            row.getLong("tokens"),
                            row.getBoolean("ended"))));
        }
    }
}
