package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.run.TimerKind;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.RunStore.DueTimer;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/** {@code timers} as commits write them. Timers of the kind {@code human} have their question, which the inbox reads. */
final class TimersTable {
    private static final List<Column<Timer>> TIMER = List.of(word("kind", t -> t.key().kind().wire()),
            uuid("subject", t -> t.key().subject()), uuid("run_id", Timer::runId), time("due_at", Timer::dueAt),
            uuid("workspace_id", t -> t.question() == null ? null : t.question().workspaceId()),
            word("question", t -> t.question() == null ? null : t.question().kind().wire()),
            time("asked_at", t -> t.question() == null ? null : t.question().askedAt()),
            time("answer_by", t -> t.question() == null ? null : t.question().dueAt()),
            text("cause", t -> t.question() == null ? null : t.question().cause()));

    static final RowSetStatement<Timer> ARM = new RowSetStatement<>("keelson_timer", """
            insert into timers (kind, subject, run_id, due_at, workspace_id, question, asked_at, answer_by, cause)
            select kind, subject, run_id, due_at, workspace_id, question, asked_at, answer_by, cause
              from {rows}
            on conflict (kind, subject) do update
               set due_at = excluded.due_at, question = excluded.question, asked_at = excluded.asked_at,
                   answer_by = excluded.answer_by, cause = excluded.cause""",
            TIMER);

    static final RowSetStatement<TimerKey> DISARM = new RowSetStatement<>("keelson_timer_key", """
            delete from timers t using {rows} where t.kind = u.kind and t.subject = u.subject""",
            word("kind", key -> key.kind().wire()), uuid("subject", TimerKey::subject));

    static final RowSetStatement<Timer> ANSWERED = new RowSetStatement<>("keelson_timer",
            """
            delete from timers t using {rows} where t.kind = u.kind and t.subject = u.subject and t.due_at = u.due_at""",
            TIMER);

    private static final String LOAD =
            "select run_id, kind, subject, due_at, asked_at from timers where run_id = any (?)";

    private static final String DUE = """
            select run_id, kind, subject from timers where due_at <= (select {now}) order by due_at limit ?"""
            .replace("{now}", DbClock.SQL);

    private static final String DISARM_DELETED =
            """
            delete from timers t
             where t.run_id = any (?) and (select r.deleted_at is null from orchestration_runs r where r.id = t.run_id) is not true""";

    private TimersTable() {}

    static void load(Connection c, Collection<UUID> runIds, ViewLoader loader) throws SQLException {
        ViewLoader.each(c, LOAD, runIds, row -> {
            TimerKind kind = TimerKind.of(row.getString("kind"));
            if (kind == TimerKind.WATCH) {
                loader.view(row).restoreWatch(Rows.time(row, "due_at"));
            } else if (kind == TimerKind.START) {
                loader.view(row).restoreStart(Rows.time(row, "due_at"));
            } else if (kind == TimerKind.HUMAN) {
                loader.view(row).restoreQuestion(ViewLoader.uuid(row, "subject"), Rows.time(row, "asked_at"));
            } else {
                loader.view(row).restoreEvaluation(kind, ViewLoader.uuid(row, "subject"));
            }
        });
    }

    /** The timers that are due, earliest first. */
    static List<DueTimer> due(Connection c, DbClock clock, int limit) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DUE)) {
            clock.bind(statement, 1);
            statement.setInt(2, limit);
            List<DueTimer> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new DueTimer(ViewLoader.uuid(row, "run_id"), TimerKind.of(row.getString("kind")),
                            ViewLoader.uuid(row, "subject")));
                }
            }
            return found;
        }
    }

    /** Disarms timers of deleted runs. */
    static void disarmDeleted(Connection c, Collection<UUID> runIds) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DISARM_DELETED)) {
            BinaryParameter.bindIds(statement, 1, runIds);
            statement.executeUpdate();
        }
    }
}
