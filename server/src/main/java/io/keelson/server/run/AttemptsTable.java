package io.keelson.server.run;

import static io.keelson.server.run.Column.integer;
import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.time;
import static io.keelson.server.run.Column.uuid;
import static io.keelson.server.run.Column.word;

import io.keelson.core.run.Changes.Attempt;

/** {@code run_attempts}. */
final class AttemptsTable {
    static final SetStatement<Attempt> UPSERT = new SetStatement<>("keelson_attempt", """
            insert into run_attempts as a (run_id, attempt_number, state, started_at, completed_at, error_code,
                error_message)
            select run_id, attempt_number, state, started_at, completed_at, error_code, error_message from {rows}
            on conflict (run_id, attempt_number) do update
               set state = excluded.state, completed_at = excluded.completed_at, error_code = excluded.error_code,
                   error_message = excluded.error_message""",
            uuid("run_id", Attempt::runId), integer("attempt_number", Attempt::number), word("state", Attempt::state),
            time("started_at", Attempt::startedAt), time("completed_at", Attempt::completedAt),
            text("error_code", 100, Attempt::errorCode), text("error_message", Attempt::errorMessage));

    private AttemptsTable() {}
}
