package io.keelson.server.run;

import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.time;
import static io.keelson.server.run.Column.uuid;

import io.keelson.core.run.Changes.Timer;
import io.keelson.core.run.Changes.TimerKey;
import io.keelson.core.run.TimerKind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.UUID;

/** {@code timers} as commits write them. */
final class TimersTable {
    private static final SetStatement<Timer> ARM = new SetStatement<>("""
            insert into timers (kind, subject, run_id, due_at) select kind, subject, run_id, due_at from {rows}
            on conflict (kind, subject) do update set due_at = excluded.due_at""",
            text("kind", t -> t.key().kind().wire()), uuid("subject", t -> t.key().subject()),
            uuid("run_id", Timer::runId), time("due_at", Timer::dueAt));

    private static final SetStatement<TimerKey> DISARM = new SetStatement<>("""
            delete from timers t using {rows} where t.kind = u.kind and t.subject = u.subject""",
            text("kind", key -> key.kind().wire()), uuid("subject", TimerKey::subject));

    private static final String CLEAR = "delete from timers where run_id = any (?)";

    private static final String LOAD = "select run_id, kind, subject from timers where run_id = any (?)";

    private TimersTable() {}

    static void clear(Connection c, Collection<UUID> runIds) throws SQLException {
        Loading.execute(c, CLEAR, runIds);
    }

    static void disarm(Connection c, Collection<TimerKey> keys) throws SQLException {
        DISARM.execute(c, keys, null);
    }

    static void arm(Connection c, Collection<Timer> timers) throws SQLException {
        ARM.execute(c, timers, null);
    }

    static void load(Connection c, Collection<UUID> runIds, Loading loading) throws SQLException {
        Loading.each(c, LOAD, runIds, row -> loading.view(row).restoreEvaluation(TimerKind.of(row.getString("kind")),
                Loading.uuid(row, "subject")));
    }
}
