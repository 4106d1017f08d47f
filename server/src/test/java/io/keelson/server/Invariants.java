package io.keelson.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.BoardStatus;
import io.keelson.core.lifecycle.Lifecycle;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.server.base.db.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What must hold in any database at rest, after any fault: queries that must find no row.
 * Replies to clients (I6) and what readers saw (I9) are checked by journals of the tests.
 */
public final class Invariants {
    /** Every transition in the events, and the initial state of each entity. */
    private static final String MOVES = """
            with moves as (
                select e.run_id, e.seq, e.event_type, e.payload ->> 'from' as was, e.payload ->> 'to' as became,
                    coalesce(e.step_id, e.task_id, e.agent_id, e.run_id) as entity,
                    case when e.step_id is not null then 'step' when e.task_id is not null then 'task'
                        when e.agent_id is not null then 'agent' else 'run' end as kind
                  from orchestration_events e
                 where e.payload ->> 'to' is not null),
            entities as (
                select id, state, 'created' as born from orchestration_runs
                union all select id, state, 'pending' from run_agents
                union all select id, state, case when reused_from is null then 'pending' else 'completed' end
                  from orchestration_tasks
                union all select id, state, 'pending' from orchestration_steps)
            """;
    private static final String PRESENT = "t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded";
    /** The use of each lease: its result, or without one what its heartbeats have said. */
    private static final String USED = """
            with used as (
                select run_id, step_id, tokens, cost, usage from work_results
                union all select run_id, id, (metered #>> '{tokens,input}')::bigint + (metered #>> '{tokens,cache_read}')::bigint
                    + (metered #>> '{tokens,cache_write}')::bigint + (metered #>> '{tokens,output}')::bigint,
                    (metered ->> 'cost')::numeric, metered -> 'tokens' from task_steps s
                 where metered is not null and not exists (
                    select from work_results w where w.step_id = s.id and w.epoch = (s.metered ->> 'epoch')::int))
            """;
    private static final Map<String, String> QUERIES = queries();

    private Invariants() {}

    private static Map<String, String> queries() {
        Map<String, String> queries = new LinkedHashMap<>();
        money(queries);
        effects(queries);
        audit(queries);
        zombies(queries);
        queries.put("I7 tenancy: a row belongs to its run's workspace", List.of("orchestration_tasks",
                "orchestration_steps", "run_agents", "work_queue", "escalation_tickets", "artifacts").stream()
                .map(table -> "select '" + table + "', c.run_id from " + table
                        + " c join orchestration_runs r on r.id = c.run_id where c.workspace_id <> r.workspace_id")
                .collect(Collectors.joining(" union all ")));
        queries.put("I7 tenancy: a key's principal is of its workspace", """
                select k.id from api_keys k join principals p on p.id = k.principal_id
                 where p.workspace_id <> k.workspace_id""");
        counters(queries);
        board(queries);
        return queries;
    }

    /** The board and the reports follow in the transition's own transaction. */
    private static void board(Map<String, String> queries) {
        String statuses = Stream.concat(
                Stream.of(RunState.values()).map(state -> List.of("run", state.wire(), BoardStatus.of(state).wire())),
                Stream.of(TaskState.values()).map(state -> List.of("task", state.wire(), BoardStatus.of(state).wire())))
                .map(row -> "('" + String.join("', '", row) + "')").collect(Collectors.joining(", "));
        queries.put("I10 board: a run has one task on it, in the column of its state", """
                select r.id, r.state, b.id, b.status from orchestration_runs r
                  join (values %s) as m (kind, state, status) on m.kind = 'run' and m.state = r.state
                  left join board_tasks b on b.source_type = 'orchestration' and b.source_id = r.id::text
                 where b.id is null or b.status <> m.status or b.workspace_id <> r.workspace_id
                    or b.parent_task_id is not null or b.tags <> jsonb_build_array('mission', r.state)"""
                .formatted(statuses));
        queries.put("I10 board: a task has one below its run's, in the column of its state, rounds have none", """
                select t.id, t.state, b.id, b.status from orchestration_tasks t
                  join (values %s) as m (kind, state, status) on m.kind = 'task' and m.state = t.state
                  left join board_tasks b on b.id = t.board_task_id and b.source_type = 'orchestration_task'
                   and b.source_id = t.id::text
                  left join board_tasks p on p.source_type = 'orchestration' and p.source_id = t.run_id::text
                 where case when t.key like '.%%' or t.group_id is not null and t.item is null then b.id is not null
                    else b.id is null or b.status <> m.status or b.workspace_id <> t.workspace_id
                    or b.parent_task_id is distinct from p.id
                    or (b.status = 'done') <> (b.completed_at is not null) end""".formatted(statuses));
        // An attempt that ended in the commit that began the next one never was an ended row.
        queries.put("I10 reports: tasks that ended with an output, failed or were ignored have one, others have none", """
                with due as (
                    select t.id, t.run_id, t.attempt, false as past from orchestration_tasks t
                     where t.state_type = 'terminal' and t.reused_from is null and t.key not like '.%'
                       and (t.group_id is null or t.item is not null)
                       and (t.state = 'failed' or t.failure_ignored or t.output_summary <> 'null')
                    union all select r.id, r.id, r.attempt_number, false from orchestration_runs r
                     where r.state_type = 'terminal'
                    union all select a.run_id, a.run_id, a.attempt_number, true from run_attempts a
                      join orchestration_runs r on r.id = a.run_id and r.attempt_number > a.attempt_number)
                select * from due full join agent_reports p
                    on (p.subject_id, p.run_id, p.run_attempt) = (due.id, due.run_id, due.attempt)
                 where due.id is null or p.id is null and not due.past""");
    }

    private static void money(Map<String, String> queries) {
        queries.put("I1 money: balances are the fold of the ledger, but for what open attempts have charged", """
                with folded as (
                    select l.workspace_id, sum(m.amount) filter (where m.account = 'available') as available,
                        sum(m.amount) filter (where m.account = 'reserved') as reserved,
                        sum(m.amount) filter (where m.account = 'spent') as spent
                      from billing_ledger l
                     cross join lateral (values (l.credit_account, l.amount), (l.debit_account, -l.amount))
                        as m (account, amount)
                     group by l.workspace_id),
                open as (
                    select r.workspace_id, sum(h.credits_charged) as charged
                      from run_heads h join orchestration_runs r on r.id = h.run_id group by r.workspace_id)
                select b.*, f.*, o.charged
                  from credit_balances b full join folded f on f.workspace_id = b.workspace_id
                  left join open o on o.workspace_id = b.workspace_id
                 where (b.available, b.reserved, b.spent) is distinct from (coalesce(f.available, 0),
                        coalesce(f.reserved, 0) + coalesce(o.charged, 0), coalesce(f.spent, 0) - coalesce(o.charged, 0))
                    or least(b.available, b.reserved, b.spent, f.available, f.reserved, f.spent) < 0""");
        queries.put("I1 money: charged + refunded = reserved of every settled attempt, and the ledger says so", """
                select a.run_id, a.attempt_number, a.credits_reserved, a.credits_charged, a.credits_refunded
                  from run_attempts a
                 cross join lateral (
                    select coalesce(sum(amount) filter (where transaction_type = 'reserve'), 0) as reserved,
                        coalesce(sum(amount) filter (where transaction_type = 'charge'), 0) as charged,
                        coalesce(sum(amount) filter (where transaction_type = 'refund'), 0) as refunded
                      from billing_ledger l where l.run_id = a.run_id and l.attempt_number = a.attempt_number) l
                 where a.settled_at is not null
                   and (a.credits_charged + a.credits_refunded <> a.credits_reserved
                     or (a.credits_reserved, a.credits_charged, a.credits_refunded)
                        is distinct from (l.reserved, l.charged, l.refunded))""");
        queries.put("I1 money: cost that was not charged is recorded as uncollected", """
                select h.run_id, h.total_cost, l.charged, l.cost, r.credits_uncollected, h.credits_remainder
                  from run_heads h join orchestration_runs r on r.id = h.run_id
                 cross join lateral (
                    select coalesce(sum(amount), 0) as charged, coalesce(sum(coalesce(cost, amount)), 0) as cost
                      from billing_ledger where run_id = h.run_id and transaction_type = 'charge') l
                 cross join lateral (
                    select coalesce(sum(uncollected), 0) as before from run_attempts a
                     where a.run_id = h.run_id and a.attempt_number < r.attempt_number) a
                 where h.total_cost <> l.cost + a.before + r.credits_uncollected
                    or l.charged <> r.credits_charged_before + h.credits_charged
                    or h.credits_remainder <> l.cost - l.charged""");
        queries.put("I1 money: a run is charged the sum of its exact costs, rounded once, after each charge", """
                select * from (
                    select run_id, id, amount, cost, sum(amount) over so_far as charged,
                        round(sum(coalesce(cost, amount)) over so_far, 6) as due
                      from billing_ledger where transaction_type = 'charge'
                    window so_far as (partition by run_id order by id)) each
                 where charged <> due""");
        queries.put("I5 no zombies: what has not begun or has ended has nothing reserved",
                """
                select r.id, r.state, h.credits_left + h.credits_charged from orchestration_runs r join run_heads h on h.run_id = r.id
                 where h.credits_left + h.credits_charged <> 0 and (r.state_type = 'terminal' or r.state in ('created', 'retrying'))""");
    }

    private static void effects(Map<String, String> queries) {
        queries.put(
                "I2 effects: a completed step has exactly one result that is none of failure, or another step's; any other none",
                """
                select s.id, s.state, w.results
                  from orchestration_steps s
                 cross join lateral (
                    select count(*) as results from work_results w
                     where w.step_id = s.id and w.outcome not in ('failed', 'lost')) w
                 where s.kind in ('tool', 'turn', 'verify')
                   and w.results <> case when s.state = 'completed' and not exists (
                        select from orchestration_events e
                         where e.run_id = s.run_id and e.step_id = s.id and e.event_type = 'step_result_reused')
                        then 1 else 0 end""");
        queries.put("I2 effects: a result belongs to a lease that was given", """
                select w.step_id, w.epoch from work_results w left join orchestration_steps s on s.id = w.step_id
                 where s.id is null or w.epoch > s.lease_epoch
                    or w.epoch > s.result_epoch and w.outcome <> 'lost'""");
    }

    private static void audit(Map<String, String> queries) {
        queries.put("I3 audit: events are numbered without a gap, as the head counts them", """
                select h.run_id, h.last_seq, count(e.seq), min(e.seq), max(e.seq)
                  from run_heads h left join orchestration_events e on e.run_id = h.run_id
                 group by h.run_id
                having count(e.seq) <> h.last_seq or min(e.seq) <> 1 or max(e.seq) <> h.last_seq""");
        queries.put("I3 audit: a pack has at most 100 events", """
                select id, json_array_length(body) from run_event_packs_kept where json_array_length(body) > 100""");
        queries.put("I3 audit: events fold to the rows' states", MOVES + """
                , last as (select distinct on (entity) entity, became from moves order by entity, seq desc)
                select n.id, n.state, l.became from entities n left join last l on l.entity = n.id
                 where n.state <> coalesce(l.became, n.born)""");
        queries.put("I4 legality: each event leaves the state that the one before it entered", MOVES + """
                , follow as (select m.*, n.born,
                    lag(m.became) over (partition by m.entity order by m.seq) as before
                      from moves m left join entities n on n.id = m.entity)
                select entity, seq, was, before from follow where was is distinct from coalesce(before, born)""");
        queries.put("I4 legality: every transition is in its lifecycle, under its name", MOVES + """
                select entity, kind, was, became, event_type from moves
                 where (kind, was, became, event_type) not in (values %s)""".formatted(edges()));
    }

    private static String edges() {
        List<String> edges = new ArrayList<>();
        for (Lifecycle<?> lifecycle : Lifecycles.all()) {
            lifecycle.edges().forEach(edge -> edges.add("('" + lifecycle.entity() + "', '" + wire(edge.from()) + "', '"
                    + wire(edge.to()) + "', '" + edge.event().wire() + "')"));
        }
        return String.join(", ", edges);
    }

    private static String wire(Enum<?> state) {
        return ((State) state).wire();
    }

    private static void zombies(Map<String, String> queries) {
        queries.put("I5 no zombies: what no foreign key holds refers to nothing that is gone", """
                select 'attempt', a.run_id::text from run_attempts a left join orchestration_runs r on r.id = a.run_id
                 where r.id is null
                union all
                select 'agent', a.id::text from run_agents a left join orchestration_runs r on r.id = a.run_id
                 where r.id is null
                union all
                select 'task', b.id::text from board_tasks b left join workspaces w on w.id = b.workspace_id
                  left join board_tasks p on p.id = b.parent_task_id
                 where w.id is null or b.parent_task_id is not null and p.id is null
                union all
                select 'report', p.id::text from agent_reports p left join workspaces w on w.id = p.workspace_id
                 where w.id is null""");
        queries.put("I5 no zombies: an ended run holds nothing that is open", """
                select r.id, r.state from orchestration_runs r
                 where r.state_type = 'terminal'
                   and (exists (select from run_agents a where a.run_id = r.id and a.state_type <> 'terminal')
                     or exists (select from orchestration_tasks t where t.run_id = r.id and t.state_type <> 'terminal')
                     or exists (select from orchestration_steps s where s.run_id = r.id and s.state_type <> 'terminal')
                     or exists (select from work_queue q where q.run_id = r.id)
                     or exists (select from timers t where t.run_id = r.id)
                     or exists (select from escalation_tickets t where t.run_id = r.id and t.resolution is null))""");
        queries.put("I5 no zombies: an open run that waits for no person has something that can move it", """
                select r.id, r.state from orchestration_runs r
                 where r.state_type in ('pending', 'running') and r.state not in ('created', 'awaiting_approval')
                   and r.gate = 'none'
                   and not exists (select from work_queue q where q.run_id = r.id)
                   and not exists (select from timers t where t.run_id = r.id and t.kind <> 'watch')
                   and not exists (select from orchestration_steps s where s.run_id = r.id and s.state_type = 'paused')
                   and not exists (select from orchestration_tasks t where t.run_id = r.id
                        and t.state = 'awaiting_human')""");
        queries.put("I5 no zombies: what is queued is work of a run that is not over and of a step that is open", """
                select q.run_id, q.task_id, q.lane from work_queue q
                 where not exists (select from orchestration_steps s where s.task_id = q.task_id
                    and q.lane in (0, s.position) and s.state_type in ('pending', 'running')
                    and (q.holder is not null) = (s.state = 'running'))""");
    }

    private static void counters(Map<String, String> queries) {
        queries.put("I8 counters equal a recount", """
                select r.id from orchestration_runs r join run_heads h on h.run_id = r.id
                 cross join lateral (
                    select count(*) as tasks, count(*) filter (where t.state = 'completed') as completed,
                        count(*) filter (where t.state = 'failed') as failed,
                        count(*) filter (where t.state = 'skipped') as skipped
                      from orchestration_tasks t where %1$s and t.key not like '.%%') t
                 cross join lateral (
                    select count(*) as steps, count(*) filter (where s.state = 'completed') as completed
                      from orchestration_tasks t join orchestration_steps s on s.task_id = t.id
                       and s.task_attempt >= t.attempt_number where %1$s) s
                 where (r.task_count, r.tasks_completed, r.tasks_failed, r.tasks_skipped, r.steps_total,
                        h.steps_completed)
                    is distinct from (t.tasks, t.completed, t.failed, t.skipped, s.steps, s.completed)"""
                .formatted(PRESENT));
        queries.put(
                "I8 counters: tokens and cost of a step are those of its results and of its open lease's heartbeats",
                USED + """
                select s.id, s.tokens, s.cost, u.tokens, u.cost
                  from orchestration_steps s
                  left join (select step_id, sum(tokens) as tokens, sum(cost) as cost from used group by step_id) u
                    on u.step_id = s.id
                 where s.tokens <> coalesce(u.tokens, 0) or s.cost <> coalesce(u.cost, 0)""");
        queries.put("I8 counters: tokens and cost of a run are those of its steps' results and heartbeats", USED + """
                select h.run_id, h.total_tokens, sum(u.tokens), h.total_cost, sum(u.cost)
                  from run_heads h left join used u on u.run_id = h.run_id
                 group by h.run_id
                having h.total_tokens <> coalesce(sum(u.tokens), 0) or h.total_cost <> coalesce(sum(u.cost), 0)""");
        queries.put("I8 counters: a lease whose heartbeats were charged is open, or has a result of no less", """
                select s.id, s.state, s.metered, w.cost from orchestration_steps s
                  left join work_results w on w.step_id = s.id and w.epoch = (s.metered ->> 'epoch')::int
                 where s.metered is not null and case when w.step_id is null
                    then s.state <> 'running' or s.lease_epoch <> (s.metered ->> 'epoch')::int
                    else w.cost < (s.metered ->> 'cost')::numeric end""");
        queries.put("I8 counters: the parts of the tokens are those of the results, and their sum is all tokens", USED + """
                select h.run_id, h.total_tokens, h.usage, w.usage
                  from run_heads h
                  left join (
                    select run_id, jsonb_build_object('input', sum((usage -> 'input')::bigint),
                            'cache_read', sum((usage -> 'cache_read')::bigint),
                            'cache_write', sum((usage -> 'cache_write')::bigint),
                            'output', sum((usage -> 'output')::bigint),
                            'reasoning', sum((usage -> 'reasoning')::bigint)) as usage
                      from used where tokens > 0 group by run_id) w on w.run_id = h.run_id
                 where h.usage is distinct from w.usage
                    or h.total_tokens <> coalesce((h.usage -> 'input')::bigint + (h.usage -> 'cache_read')::bigint
                        + (h.usage -> 'cache_write')::bigint + (h.usage -> 'output')::bigint, 0)""");
    }

    /** Fails with the first rows that break an invariant. */
    public static void hold(Database database) {
        hold(database, "");
    }

    /** The same of those whose names begin so. */
    public static void hold(Database database, String prefix) {
        QUERIES.entrySet().stream().filter(law -> law.getKey().startsWith(prefix)).forEach(law -> {
            String name = law.getKey();
            String query = law.getValue();
            List<String> found = database.withConnection(c -> found(c, query));
            assertThat(found).as(name).isEmpty();
        });
    }

    private static List<String> found(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select found::text from (" + query + ") found limit 10")) {
            List<String> rows = new ArrayList<>();
            while (row.next()) {
                rows.add(row.getString(1));
            }
            return rows;
        }
    }
}
