package io.keelson.server.run;

import static io.keelson.server.run.Column.bigint;
import static io.keelson.server.run.Column.integer;
import static io.keelson.server.run.Column.money;
import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.uuid;

import io.keelson.core.run.Changes.StepResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;

/** {@code work_results}: at most one per lease; a second one is a bug that the primary key refuses. */
final class ResultsTable {
    private static final SetStatement<StepResult> INSERT = new SetStatement<>("""
            insert into work_results (step_id, epoch, run_id, outcome, error_code, tokens, cost, holder, recorded_at)
            select step_id, epoch, run_id, outcome, error_code, tokens, cost, holder, {now} from {rows}""",
            uuid("step_id", StepResult::stepId), integer("epoch", StepResult::epoch),
            uuid("run_id", StepResult::runId), text("outcome", StepResult::outcome),
            text("error_code", 100, StepResult::errorCode), bigint("tokens", StepResult::tokens),
            money("cost", StepResult::cost), text("holder", StepResult::holder));

    private ResultsTable() {}

    static void insert(Connection c, Collection<StepResult> results, Instant now) throws SQLException {
        INSERT.execute(c, results, now);
    }
}
