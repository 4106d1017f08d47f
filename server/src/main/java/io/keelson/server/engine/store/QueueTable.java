package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.Hold;
import io.keelson.core.decide.LaneLease;
import io.keelson.core.money.Amounts;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.ModelName;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * {@code work_queue} as commits write it. Conditions with {@code any (array[...])} are looked up in an index: while the queue is
 * empty, a plan for an equality may read all of the index, with the rows that were removed under an open snapshot.
 */
final class QueueTable {
    static final RowSetStatement<QueueItem> PUT = new RowSetStatement<>("keelson_queue_item_3", """
            insert into work_queue (task_id, lane, run_id, workspace_id, tool, model, priority, queued_at, holder,
                lease_ms, lease_expires_at, deadline_at, held_credits, max_output_tokens, requested, lot, agent)
            select task_id, lane, run_id, workspace_id, tool, model, priority, queued_at, holder, lease_ms,
                {now} + lease_ms * interval '1 millisecond', {now} + timeout_ms * interval '1 millisecond',
                held_credits, max_output_tokens, requested, lot, agent
              from {rows}
            on conflict (task_id, lane) do update
               set tool = excluded.tool, model = excluded.model, priority = excluded.priority, queued_at = excluded.queued_at,
                   holder = excluded.holder, lease_ms = excluded.lease_ms,
                   lease_expires_at = excluded.lease_expires_at, deadline_at = excluded.deadline_at,
                   held_credits = excluded.held_credits, max_output_tokens = excluded.max_output_tokens,
                   requested = excluded.requested, lot = excluded.lot, agent = excluded.agent""",
            uuid("task_id", q -> q.key().taskId()), integer("lane", q -> q.key().lane()),
            uuid("run_id", QueueItem::runId), uuid("workspace_id", QueueItem::workspaceId),
            text("tool", QueueItem::tool), text("model", q -> ModelName.of(q.input())),
            integer("priority", QueueItem::priority),
            time("queued_at", QueueItem::queuedAt), text("holder", QueueItem::holder),
            bigint("lease_ms", q -> millis(q.lease())), bigint("timeout_ms", q -> millis(q.timeout())),
            money("held_credits", q -> q.hold() == null ? null : q.hold().amount()),
            bigint("max_output_tokens", q -> q.hold() == null ? null : q.hold().maxOutput()),
            flag("requested", q -> q.hold() != null && q.hold().requested()),
            text("lot", q -> q.lot() == null ? null : q.lot().name()),
            text("agent", q -> q.agent() == null ? "" : q.agent()));

    static final RowSetStatement<Lane> REMOVE = new RowSetStatement<>("keelson_queue_key", """
            delete from work_queue q using {rows} where q.task_id = any (array[u.task_id]) and q.lane = u.lane""",
            uuid("task_id", Lane::taskId), integer("lane", Lane::lane));

    /** Removes all rows of runs from the queue, and their timers: one statement costs less than two. */
    static final RowSetStatement<UUID> CLEAR = new RowSetStatement<>("keelson_run_key", """
            with disarmed as (delete from timers t using {rows} where t.run_id = any (array[u.run_id]))
            delete from work_queue q using {rows} where q.run_id = any (array[u.run_id])""", uuid("run_id", id -> id));

    private static final String LOAD =
            """
            select run_id, task_id, lane, holder, held_credits, max_output_tokens, requested, tool, lease_ms, deadline_at
              from work_queue where run_id = any (?)""";

    private QueueTable() {}

    private static @Nullable Long millis(@Nullable Duration duration) {
        return duration == null ? null : duration.toMillis();
    }

    private static @Nullable Hold hold(ResultSet row) throws SQLException {
        BigDecimal amount = row.getBigDecimal("held_credits");
        return amount == null ? null
                : new Hold(Amounts.exact(amount), row.getLong("max_output_tokens"), row.getBoolean("requested"));
    }

    static void load(Connection c, Collection<UUID> runIds, ViewLoader loader) throws SQLException {
        ViewLoader.each(c, LOAD, runIds, row -> loader.view(row).restoreLane(ViewLoader.uuid(row, "task_id"),
                row.getInt("lane"), row.getString("holder"), hold(row), lease(row)));
    }

    private static @Nullable LaneLease lease(ResultSet row) throws SQLException {
        Long length = row.getObject("lease_ms", Long.class);
        return LaneLease.of(row.getString("tool"), length == null ? null : Duration.ofMillis(length),
                Rows.optionalTime(row, "deadline_at"));
    }
}
