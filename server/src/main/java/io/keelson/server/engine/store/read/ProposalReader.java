package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.JsonRows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Reads steps' proposals as documents. Other workspaces' proposals are invisible. */
public final class ProposalReader {

    private static final String PROPOSALS = """
            select p.id, p.run_id, r.title as run_name, p.attempt, p.task_id, t.key as task_key, p.step_id,
                s.name as step_name, p.title, p.body, p.data,
                case when p.state = 'pending' and p.expires_at <= {now} then 'expired' else p.state end as state,
                p.created_at, p.expires_at, p.decided_at, p.decided_by, p.comment as reason
              from proposals p
              join orchestration_runs r on r.id = p.run_id
              left join orchestration_tasks t on t.id = p.task_id
              left join orchestration_steps s on s.id = p.step_id
             where p.workspace_id = ? and r.deleted_at is null""".replace("{now}", DbClock.SQL);

    private static final String ONE = PROPOSALS + " and p.id = ?";

    private static final String PAGE = """

               and (?::uuid is null or (p.created_at, p.id) < (
                   select last.created_at, last.id from proposals last
                    where last.workspace_id = p.workspace_id and last.id = ?))
             order by p.created_at desc, p.id desc
             limit ?""";

    private static final String OF_RUN = " and (?::uuid is null or p.run_id = ?)";
    private static final String ALL = PROPOSALS + OF_RUN + PAGE;
    private static final String PENDING = PROPOSALS + OF_RUN + """
             and p.state = 'pending' and (p.expires_at is null or p.expires_at > {now})"""
            .replace("{now}", DbClock.SQL) + PAGE;
    private static final String EXPIRED = PROPOSALS + OF_RUN + """
             and p.state = 'pending' and p.expires_at <= {now}""".replace("{now}", DbClock.SQL) + PAGE;
    private static final String ENDED = PROPOSALS + OF_RUN + " and p.state = ?" + PAGE;

    private final DbClock clock;

    public ProposalReader(DbClock clock) {
        this.clock = clock;
    }

    public Optional<ObjectNode> proposal(Connection c, UUID workspaceId, UUID id) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ONE)) {
            clock.bind(statement, 1);
            statement.setObject(2, workspaceId);
            statement.setObject(3, id);
            return JsonRows.first(statement);
        }
    }

    /**
     *
     * Newest first.
     *
     * @param state {@code pending}, {@code accepted}, {@code rejected}, {@code expired} or {@code withdrawn}; null for
     *              all
     * @param runId null for all runs
     * @param after the one after which to continue; null to begin with the first
     */
    public Page<ObjectNode> proposals(Connection c, UUID workspaceId, @Nullable String state, @Nullable UUID runId,
            @Nullable UUID after, int limit) throws SQLException {
        String asked = state == null ? "" : state;
        String sql = switch (asked) {
            case "" -> ALL;
            case "pending" -> PENDING;
            case "expired" -> EXPIRED;
            default -> ENDED;
        };
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            int p = 1;
            clock.bind(statement, p++);
            statement.setObject(p++, workspaceId);
            statement.setObject(p++, runId);
            statement.setObject(p++, runId);
            if (sql.equals(PENDING) || sql.equals(EXPIRED)) {
                clock.bind(statement, p++);
            } else if (sql.equals(ENDED)) {
                statement.setString(p++, asked);
            }
            statement.setObject(p++, after);
            statement.setObject(p++, after);
            statement.setInt(p, limit + 1);
            return Rows.page(statement, limit, JsonRows::object);
        }
    }
}
