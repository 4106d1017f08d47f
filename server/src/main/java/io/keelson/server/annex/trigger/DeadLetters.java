package io.keelson.server.annex.trigger;

import io.keelson.server.api.http.inbox.InboxDecisions.WorkspaceQuestions;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The inbox items about dead deliveries: one for each trigger, about all deliveries that died since it was opened. It has another id once these are
 * replayed, dismissed or deleted.
 */
final class DeadLetters implements WorkspaceQuestions {

    /** Locks the trigger in any case: an answer waits for the outcome that is stored next, or comes before it. */
    private static final Sql OPEN = Sql.of("""
            update triggers t
               set notice = case when open then notice else :notice end,
                   notice_since = case when open then notice_since else clock_timestamp() end
              from (select h.id, h.notice is not null and exists (
                        select from trigger_deliveries d
                         where d.trigger_id = h.id and d.state = 'dead' and d.decided_at >= h.notice_since) as open
                      from triggers h where h.id = :id for no key update) held
             where t.id = held.id""");

    private static final Sql CLOSE = Sql.of("""
            update triggers t set notice = null, notice_since = null
              from (select id, notice_since from triggers
                     where workspace_id = :workspace and notice = :notice for no key update) held
             where t.id = held.id returning held.id, held.notice_since as since""");

    private record Closed(UUID id, Instant since) {}

    private final Database database;
    private final Replays replays;
    private final Runnable signal;

    /** @param signal has deliveries decided soon; returns at once */
    DeadLetters(Database database, Replays replays, Runnable signal) {
        this.database = database;
        this.replays = replays;
        this.signal = signal;
    }

    /** Opens the question about deliveries of these triggers that die in the transaction, before they do. */
    static void open(Connection c, Collection<UUID> triggers) throws SQLException {
        for (UUID each : triggers.stream().sorted().toList()) {
            OPEN.on(c).set("notice", UUID.randomUUID()).set("id", each).update();
        }
    }

    @Override
    public boolean answer(UUID workspace, UUID subject, boolean accept, @Nullable String reason, AuditOrigin origin) {
        boolean known = database.inTransaction(c -> {
            Optional<Closed> closed = CLOSE.on(c).set("workspace", workspace).set("notice", subject)
                    .first(RecordColumns.of(Closed.class));
            if (closed.isEmpty()) {
                return false;
            }
            if (accept) {
                var _ = replays.begin(c, workspace, closed.get().id(),
                        new Replays.Which(null, "dead", null, null, closed.get().since()));
            }
            TriggerStore.audit(c, origin, accept ? "trigger_replayed" : "trigger_dead_dismissed", workspace,
                    closed.get().id());
            return true;
        });
        signal.run();
        return known;
    }
}
