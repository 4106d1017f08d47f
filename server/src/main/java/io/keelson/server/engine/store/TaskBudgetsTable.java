package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Budget;
import io.keelson.core.decide.TaskBudgetRow;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;

/** {@code task_budgets}. */
final class TaskBudgetsTable {
    static final RowSetStatement<Budget> PUT = new RowSetStatement<>("keelson_task_budget", """
            insert into task_budgets (run_id, task_key, workspace_id, budget_usd, charged, exceeded)
            select run_id, task_key, workspace_id, budget_usd, charged, exceeded from {rows}
            on conflict (run_id, task_key) do update
               set budget_usd = excluded.budget_usd, charged = excluded.charged, exceeded = excluded.exceeded""",
            uuid("run_id", b -> b.run().id()), text("task_key", b -> b.row().task()),
            uuid("workspace_id", b -> b.run().workspaceId()), money("budget_usd", b -> b.row().limit()),
            money("charged", b -> b.row().charged()), flag("exceeded", b -> b.row().exceeded()));

    private static final String LOAD = """
            select run_id, task_key, budget_usd, charged, exceeded from task_budgets where run_id = any (?)""";

    private TaskBudgetsTable() {}

    /** Queries only runs that have any. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.budgeted.isEmpty()) {
            ViewLoader.each(c, LOAD, loader.budgeted, row -> loader.view(row).add(new TaskBudgetRow(
                    row.getString("task_key"), row.getBigDecimal("budget_usd"), ViewLoader.cost(row, "charged"),
                    row.getBoolean("exceeded"))));
        }
    }
}
