package io.keelson.server.engine.store.queue;

import io.keelson.api.work.CachedResult;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * {@code result_cache}: the steps that compute results for others. A row names the step only; the rows of the step and its task tell
 * whether there is a result. {@code result_waits}: the steps that wait for these results.
 */
public final class ResultCache {
    private static final Sql RESERVE = Sql.of("""
            insert into result_cache (workspace_id, tool, key_sha256, key_start, run_id, step_id, reserved_at, expires_at)
            values (:workspace, :tool, :key, :start, :run, :step, {now}, {now} + :age::bigint * interval '1 second')
            on conflict (workspace_id, tool, key_sha256) do nothing""");

    private static final Sql LOCK = Sql.of("""
            select step_id from result_cache
             where workspace_id = :workspace and tool = :tool and key_sha256 = :key for update""");

    private static final Sql REPLACE = Sql.of("""
            update result_cache set run_id = :run, step_id = :step, reserved_at = {now},
                expires_at = greatest(expires_at, {now} + :age::bigint * interval '1 second')
             where workspace_id = :workspace and tool = :tool and key_sha256 = :key""");

    private static final Sql PURGE = Sql.of("""
            delete from result_cache where ctid = any (array(
                select ctid from result_cache where expires_at < {now} - interval '1 day' limit :most
                   for update skip locked))""");

    private static final Sql WAIT = Sql.of("""
            insert into result_waits (step_id, workspace_id, run_id, source_task_id, since)
            values (:step, :workspace, :run, :source, {now})
            on conflict (step_id) do update set source_task_id = excluded.source_task_id, since = excluded.since""");

    private static final Sql WAKE = Sql.of("""
            delete from result_waits where source_task_id = any (:sources) returning run_id, step_id""");

    private static final Sql PURGE_WAITS = Sql.of("""
            delete from result_waits where ctid = any (array(
                select ctid from result_waits where since < {now} - interval '1 day' limit :most
                   for update skip locked))""");

    private static final Sql LIST = Sql.of("""
            select tool, key_start, key_sha256, run_id, step_id, reserved_at, expires_at
              from result_cache where workspace_id = :workspace and (:tool::text is null or tool = :tool)
             order by tool, key_sha256 limit :limit offset :from""");

    private static final Sql CLEAR = Sql.of("""
            delete from result_cache where workspace_id = :workspace and (:tool::text is null or tool = :tool)
               and (:key::text is null or key_sha256 = :key)""");

    /**
     * A result by its key.
     *
     * @param sha256 of the key in canonical JSON
     * @param start of the key as JSON, at most 200 characters
     */
    public record Key(UUID workspace, String tool, String sha256, String start) {}

    /** A step that waits for a result. */
    public record Waiting(UUID run, UUID step) {}

    private final DbClock clock;

    public ResultCache(DbClock clock) {
        this.clock = clock;
    }

    /**
     * Reserves a key for a step, or locks its row until the end of the transaction.
     *
     * @return the step that has it reserved, which may be this one
     */
    public UUID reserve(Connection c, Key key, UUID run, UUID step, long maxAgeSeconds) throws SQLException {
        while (true) {
            int reserved = RESERVE.on(c).set("workspace", key.workspace()).set("tool", key.tool())
                    .set("key", key.sha256()).set("start", key.start()).set("run", run).set("step", step)
                    .set("age", maxAgeSeconds).at(clock).update();
            if (reserved == 1) {
                return step;
            }
            @Nullable UUID holder = LOCK.on(c).set("workspace", key.workspace()).set("tool", key.tool())
                    .set("key", key.sha256()).first(row -> row.getObject("step_id", UUID.class)).orElse(null);
            // a row that is deleted between both statements is reserved again
            if (holder != null) {
                return holder;
            }
        }
    }

    /** Gives a locked key to another step. */
    public void replace(Connection c, Key key, UUID run, UUID step, long maxAgeSeconds) throws SQLException {
        REPLACE.on(c).set("workspace", key.workspace()).set("tool", key.tool()).set("key", key.sha256())
                .set("run", run).set("step", step).set("age", maxAgeSeconds).at(clock).update();
    }

    /** Has the end of a task wake a step of the run. */
    public void await(Connection c, UUID workspace, UUID run, UUID step, UUID sourceTask) throws SQLException {
        WAIT.on(c).set("workspace", workspace).set("run", run).set("step", step).set("source", sourceTask).at(clock)
                .update();
    }

    /** Takes the steps that wait for results of these tasks. Each is returned once. */
    public List<Waiting> wake(Connection c, Collection<UUID> sourceTasks) throws SQLException {
        return WAKE.on(c).setUuids("sources", sourceTasks).all(
                row -> new Waiting(row.getObject("run_id", UUID.class), row.getObject("step_id", UUID.class)));
    }

    /**
     * Reads keys by tool.
     *
     * @param tool null for all
     * @param from number of rows to skip
     */
    public Page<CachedResult> list(Connection c, UUID workspace, @Nullable String tool, int from, int limit)
            throws SQLException {
        return LIST.on(c).set("workspace", workspace).set("tool", tool).set("from", from).page(limit,
                row -> new CachedResult(row.getString("tool"), row.getString("key_start"), row.getString("key_sha256"),
                        row.getString("run_id"), row.getString("step_id"), Rows.time(row, "reserved_at"),
                        Rows.time(row, "expires_at")));
    }

    /**
     * Deletes keys, and writes an entry of the audit log. A step that computes one of them continues, but not for others.
     *
     * @param tool null for all
     * @param sha256 of the key in canonical JSON; null for all
     * @return the number of keys
     */
    public int clear(Connection c, UUID workspace, @Nullable String tool, @Nullable String sha256, AuditOrigin origin)
            throws SQLException {
        int cleared = CLEAR.on(c).set("workspace", workspace).set("tool", tool).set("key", sha256).update();
        AuditLog.write(c, origin, "cache_cleared", workspace, tool == null ? "*" : tool,
                Json.object().put("key_sha256", sha256).put("cleared", cleared));
        return cleared;
    }

    /** Deletes rows that expired, or began to wait, a day ago, up to a maximum of each; returns their number. */
    public int purge(Connection c, int most) throws SQLException {
        return PURGE.on(c).set("most", most).at(clock).update()
                + PURGE_WAITS.on(c).set("most", most).at(clock).update();
    }
}
