package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.RunView;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * {@code work_results}, a view: at most one result per lease. The row of a step holds the completing result, if it
 * fits; the others are rows of {@code step_results}. Both refuse a second result of a lease.
 */
final class ResultsTable {
    private static final List<Column<StepResult>> COLUMNS = List.of(uuid("step_id", StepResult::stepId),
            integer("epoch", StepResult::epoch), uuid("run_id", StepResult::runId),
            word("outcome", StepResult::outcome), integer("attempt", StepResult::attempt),
            time("started_at", StepResult::startedAt), json("input", StepResult::input),
            bigint("output_hash", StepResult::outputHash), text("error_code", 100, StepResult::errorCode),
            word("error_class", result -> result.error() == null ? null : result.error().errorClass().wire()),
            text("error_message", result -> result.error() == null ? null : result.error().message()),
            text("system", StepResult::system), text("model", StepResult::model),
            bigint("tokens", result -> result.tokens().total()),
            json("usage", result -> UsageText.of(result.tokens())), money("cost", StepResult::cost),
            text("holder", StepResult::holder));

    private static final String NEW = """
            insert into step_results (step_id, epoch, run_id, outcome, attempt, started_at, input, output_hash,
                error_code, error_class, error_message, system, model, tokens, usage, cost, holder, recorded_at)
            select step_id, epoch, run_id, outcome, attempt, started_at, input, output_hash, error_code,
                error_class, error_message, system, model, tokens, usage, cost, holder, {now} from {rows}""";

    static final RowSetStatement<StepResult> INSERT = new RowSetStatement<>("keelson_result_new", NEW, COLUMNS);

    /** Results of leases without a report: their usage is added to that of a result which the lease has. */
    static final RowSetStatement<StepResult> ADD = new RowSetStatement<>("keelson_result_new", NEW + """

            on conflict (step_id, epoch) do update set tokens = step_results.tokens + excluded.tokens,
                cost = step_results.cost + excluded.cost, model = coalesce(step_results.model, excluded.model),
                usage = (select jsonb_object_agg(part, total)
                    from (select part, sum(number::bigint) as total
                            from (select * from jsonb_each_text(step_results.usage)
                                union all select * from jsonb_each_text(excluded.usage)) each (part, number)
                           group by part) parts)""", COLUMNS);

    /**
     * Calls per second. A recent result belongs to a step that is open or ended recently; steps of earlier attempts
     * count as well. Forgiven failures and mistakes of agents do not. Looks each step's results up: a join planned on an empty table reads all
     * of them.
     */
    private static final String RECENT = """
            with since as materialized (
                select date_trunc('second', {now} - ? * interval '1 millisecond') as at),
            resumed as materialized (
                select run_id, max(resolved_at) as at from escalation_tickets
                 where run_id = any (?) and resolution = 'resume'
                   and reason in ('error_count_exceeded', 'error_rate_exceeded')
                 group by run_id)
            select t.run_id, date_trunc('second', w.recorded_at) as at, count(*)::int as calls,
                (count(*) filter (where w.outcome = 'failed' and w.system is null
                    and (s.kind <> 'call' or w.error_class <> 'permanent')))::int as errors,
                array_remove(array_agg(distinct w.system), null) as systems
              from since cross join orchestration_tasks t
              join orchestration_steps s on s.task_id = t.id and s.result_epoch > 0
               and (s.completed_at is null or s.completed_at >= since.at)
              left join resumed f on f.run_id = t.run_id
             cross join lateral (select * from work_results where step_id = s.id offset 0) w
             where t.run_id = any (?) and w.recorded_at >= since.at and w.outcome <> 'lost' and (f.at is null or w.recorded_at > f.at)
             group by 1, 2
             order by 2""".replace("{now}", DbClock.SQL);

    private ResultsTable() {}

    /**
     * Whether the row of its step holds the result: its cost is the step's, and it has no tokens that cost nothing. Only
     * {@code step_results} has an index of those; in the row of a step it would make every update write to all indexes.
     */
    static boolean inStep(StepResult result) {
        return result.sole() && result.outcome().equals("completed")
                && (result.tokens().none() || result.cost().signum() > 0);
    }

    /** Whether its lease may have a result already. */
    static boolean adds(StepResult result) {
        return result.outcome().equals("lost");
    }

    /** The recent calls, of runs that use them. */
    static void loadRecent(Connection c, ViewLoader loader, DbClock clock) throws SQLException {
        List<RunView> watching = loader.views.values().stream().filter(view -> escalation(view).enabled()).toList();
        Optional<Duration> window = watching.stream().map(view -> escalation(view).window())
                .max(Comparator.naturalOrder());
        if (window.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = c.prepareStatement(RECENT)) {
            clock.bind(statement, 1);
            statement.setLong(2, window.get().toMillis());
            List<UUID> runs = watching.stream().map(view -> view.run().id()).toList();
            BinaryParameter.bindIds(statement, 3, runs);
            BinaryParameter.bindIds(statement, 4, runs);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    loader.view(row).calls().add(Rows.time(row, "at"), row.getInt("calls"), row.getInt("errors"),
                            Set.of((String[]) row.getArray("systems").getArray()));
                }
            }
        }
    }

    private static EscalationPolicy escalation(RunView view) {
        return view.run().policy().failures().escalation();
    }
}
