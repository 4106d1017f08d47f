package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Finds the runs that match a filter and allow an action. */
public final class RunSearch {

    /** The runs that an action applies to. */
    public enum Wanted {
        /** Runs that have not ended. */
        OPEN("r.state_type <> 'terminal'"), PAUSED("r.state = 'paused'"), ENDED("r.state_type = 'terminal'"),
        /** Runs that may be retried. */
        FAILED("r.state = 'failed' and r.state_type = 'terminal' and r.state <> 'completed'");

        private final String sql;

        Wanted(String sql) {
            this.sql = sql;
        }
    }

    /** A run and its position in the order of creation. */
    public record Place(Instant createdAt, UUID id) {}

    private static final String FROM = """

              from orchestration_runs r
             where r.workspace_id = ? and r.deleted_at is null and r.created_at <= ?
               and %s""";

    private static final String COUNT = "select count(*) from (select 1" + FROM + "%s limit ?) found";

    private static final String NEXT = "select r.id, r.created_at" + FROM + """
            %s
               and (?::timestamptz is null or (r.created_at, r.id) < (?::timestamptz, ?::uuid))
             order by r.created_at desc, r.id desc
             limit ?""";

    private RunSearch() {}

    /**
     * Counts matching runs.
     *
     * @param until ignores runs created later
     * @param most upper bound of the count
     */
    public static long count(Connection c, UUID workspace, RunSelection filter, Wanted wanted, Instant until, long most)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(COUNT.formatted(wanted.sql, filter.sql()))) {
            statement.setLong(begin(statement, workspace, filter, until), most);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private static final String SINCE = """
            select t.id, coalesce(t.state_since, t.queued_at, t.created_at) as since
              from orchestration_tasks t where t.id = any (?)
            union all
            select s.id, coalesce((select max(q.queued_at) from work_queue q where q.task_id = s.task_id and q.holder is null),
                    s.started_at, s.created_at)
              from orchestration_steps s where s.id = any (?)""";

    /** Since when tasks and steps are in their present state; of a step that is queued, since when it is. */
    public static Map<UUID, Instant> since(Connection c, Collection<UUID> ids) throws SQLException {
        Map<UUID, Instant> found = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(SINCE)) {
            statement.setArray(1, c.createArrayOf("uuid", ids.toArray()));
            statement.setArray(2, c.createArrayOf("uuid", ids.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.put(ViewLoader.uuid(row, "id"), Rows.time(row, "since"));
                }
            }
        }
        return found;
    }

    /**
     * The newest matching runs.
     *
     * @param until ignores runs created later
     * @param after the run after which to continue; null for the first
     */
    public static List<Place> next(Connection c, UUID workspace, RunSelection filter, Wanted wanted, Instant until,
            @Nullable Place after, int limit) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(NEXT.formatted(wanted.sql, filter.sql()))) {
            int p = begin(statement, workspace, filter, until);
            statement.setObject(p++, after == null ? null : after.createdAt().atOffset(ZoneOffset.UTC));
            statement.setObject(p++, after == null ? null : after.createdAt().atOffset(ZoneOffset.UTC));
            statement.setObject(p++, after == null ? null : after.id());
            statement.setInt(p, limit);
            List<Place> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new Place(Rows.time(row, "created_at"), ViewLoader.uuid(row, "id")));
                }
            }
            return found;
        }
    }

    private static int begin(PreparedStatement statement, UUID workspace, RunSelection filter, Instant until)
            throws SQLException {
        statement.setObject(1, workspace);
        statement.setObject(2, until.atOffset(ZoneOffset.UTC));
        return filter.bind(statement, 3);
    }
}
