package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet.Attempt;
import io.keelson.server.engine.store.sql.RowSetStatement;

/** {@code run_attempts}. */
final class AttemptsTable {
    static final RowSetStatement<Attempt> UPSERT = new RowSetStatement<>("keelson_attempt", """
            insert into run_attempts as a (run_id, attempt_number, state, started_at, completed_at, error_code,
                error_message, credits_reserved, credits_charged, credits_refunded, uncollected, settled_at,
                failures)
            select run_id, attempt_number, state, started_at, completed_at, error_code, error_message,
                credits_reserved, credits_charged, credits_refunded, uncollected, settled_at, failures
              from {rows}
            on conflict (run_id, attempt_number) do update
               set state = excluded.state, completed_at = excluded.completed_at, error_code = excluded.error_code,
                   error_message = excluded.error_message, credits_reserved = excluded.credits_reserved,
                   credits_charged = excluded.credits_charged, credits_refunded = excluded.credits_refunded,
                   uncollected = excluded.uncollected, settled_at = excluded.settled_at,
                   failures = excluded.failures""",
            uuid("run_id", Attempt::runId), integer("attempt_number", Attempt::number), word("state", Attempt::state),
            time("started_at", Attempt::startedAt), time("completed_at", Attempt::completedAt),
            text("error_code", 100, Attempt::errorCode), text("error_message", Attempt::errorMessage),
            money("credits_reserved", a -> a.credits().reserved()),
            money("credits_charged", a -> a.credits().charged()),
            money("credits_refunded", a -> a.credits().refunded()),
            money("uncollected", a -> a.credits().uncollected()), time("settled_at", a -> a.credits().settledAt()),
            integer("failures", Attempt::failures));

    private AttemptsTable() {}
}
