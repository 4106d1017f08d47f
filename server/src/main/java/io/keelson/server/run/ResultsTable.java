package io.keelson.server.run;

import static io.keelson.server.run.Column.bigint;
import static io.keelson.server.run.Column.integer;
import static io.keelson.server.run.Column.money;
import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.uuid;
import static io.keelson.server.run.Column.word;

import io.keelson.core.run.Changes.StepResult;

/** {@code work_results}: at most one per lease; a second one is a bug that the primary key refuses. */
final class ResultsTable {
    static final SetStatement<StepResult> INSERT = new SetStatement<>("keelson_result_new", """
            insert into work_results (step_id, epoch, run_id, outcome, error_code, tokens, cost, holder, recorded_at)
            select step_id, epoch, run_id, outcome, error_code, tokens, cost, holder, {now} from {rows}""",
            uuid("step_id", StepResult::stepId), integer("epoch", StepResult::epoch),
            uuid("run_id", StepResult::runId), word("outcome", StepResult::outcome),
            text("error_code", 100, StepResult::errorCode), bigint("tokens", StepResult::tokens),
            money("cost", StepResult::cost), text("holder", StepResult::holder));

    private ResultsTable() {}
}
