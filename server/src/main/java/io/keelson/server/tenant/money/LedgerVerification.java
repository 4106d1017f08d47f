package io.keelson.server.tenant.money;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.tenant.money.Discrepancy.Kind;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Recomputes from the ledger the reservations, charges and refunds of every attempt, the rounded sum of every run's costs, the
 * charges of every step and the balance of every account, and compares them. Reads one snapshot, so it can run while runs continue.
 */
public final class LedgerVerification {

    /**
     * @param entries of the ledger that were added up
     * @param attempts that were compared
     * @param workspaces whose balances were compared
     * @param discrepancy the first one, by attempts, then by runs, then by steps, then by balances; null when the books are right
     */
    public record Report(long entries, long attempts, long workspaces, @Nullable Discrepancy discrepancy) {}

    /** For one statement: there may be many millions of entries. */
    private static final Duration QUERY_TIMEOUT = Duration.ofMinutes(10);

    private static final String SNAPSHOT = "set transaction isolation level repeatable read, read only";

    /** The account of an open attempt is in its run's head, of a settled one in the attempt. */
    private static final String ATTEMPTS = """
            with booked as (
                select workspace_id, run_id, attempt_number, count(*) as entries,
                    coalesce(sum(amount) filter (where transaction_type = 'reserve'), 0.0) as reserved,
                    coalesce(sum(amount) filter (where transaction_type = 'charge'), 0.0) as charged,
                    coalesce(sum(amount) filter (where transaction_type = 'refund'), 0.0) as refunded
                  from billing_ledger
                 where run_id is not null and transaction_type <> 'adjustment'
                   and (:workspace::uuid is null or workspace_id = :workspace)
                 group by workspace_id, run_id, attempt_number),
            held as (
                select r.workspace_id, h.run_id, coalesce(a.attempt_number, r.attempt_number) as attempt_number,
                    a.settled_at is not null as settled,
                    case when a.settled_at is not null then a.credits_reserved
                        when coalesce(a.attempt_number, r.attempt_number) = r.attempt_number then h.credits_left + h.credits_charged
                        else 0 end as reserved,
                    case when a.settled_at is not null then a.credits_charged
                        when coalesce(a.attempt_number, r.attempt_number) = r.attempt_number then h.credits_charged
                        else 0 end as charged,
                    case when a.settled_at is not null then a.credits_refunded else 0 end as refunded
                  from run_heads h
                  join orchestration_runs r on r.id = h.run_id
                  left join run_attempts a on a.run_id = h.run_id
                 where :workspace::uuid is null or r.workspace_id = :workspace)
            select workspace_id, run_id, attempt_number, held.run_id is not null as there,
                coalesce(held.settled, true) as settled,
                booked.reserved as should_reserved, booked.charged as should_charged, booked.refunded as should_refunded,
                held.reserved, held.charged, held.refunded
              from booked full join held using (workspace_id, run_id, attempt_number)""";

    private static final Sql WRONG_ATTEMPT = Sql.of("""
            select * from ({attempts}) compared
             where case when there then
                       coalesce(should_reserved, 0) <> reserved or coalesce(should_charged, 0) <> charged
                       or coalesce(should_refunded, 0) <> refunded
                       or settled and should_reserved <> should_charged + should_refunded
                   else should_reserved <> should_charged + should_refunded
                       or exists (select from orchestration_runs r where r.id = compared.run_id) end
             order by workspace_id, run_id, attempt_number limit 1""".replace("{attempts}", ATTEMPTS));

    /** Charges of a run are the sum of their exact costs, rounded once; its head has the rest. */
    private static final Sql WRONG_RUN = Sql.of("""
            with charged as (
                select workspace_id, run_id, max(attempt_number) as attempt_number, sum(amount) as charged,
                    sum(coalesce(cost, amount)) as cost
                  from billing_ledger
                 where transaction_type = 'charge' and (:workspace::uuid is null or workspace_id = :workspace)
                 group by workspace_id, run_id),
            held as (
                select r.workspace_id, h.run_id, h.credits_remainder
                  from run_heads h join orchestration_runs r on r.id = h.run_id
                 where :workspace::uuid is null or r.workspace_id = :workspace),
            compared as (
                select workspace_id, run_id, coalesce(attempt_number, 1) as attempt_number, coalesce(charged, 0) as charged,
                    round(coalesce(cost, 0), 6) as should_charged, credits_remainder as remainder,
                    coalesce(cost, 0) - coalesce(charged, 0) as should_remainder
                  from charged full join held using (workspace_id, run_id))
            select * from compared
             where charged <> should_charged or remainder <> should_remainder
             order by workspace_id, run_id limit 1""");

    /**
     * Costs of steps are in their results, one for each lease, and of a lease that has no result yet in the row of the step.
     * Each try is charged once, beside the parts of its use that heartbeats or answers never fetched have charged. The
     * uncollected part is known for a whole run only: if it is zero, the exact costs of each step's charges equal its cost, else
     * they are at most that. A deleted run has no results.
     */
    private static final Sql WRONG_STEP = Sql.of("""
            with paid as (
                select run_id, step_id, min(attempt_number) as attempt_number, sum(coalesce(cost, amount)) as charged,
                    count(*) filter (where idempotency_key !~ '/(used|unfetched)/') as charges,
                    bool_or(idempotency_key ~ '/(used|unfetched)/') as in_parts
                  from billing_ledger
                 where transaction_type = 'charge' and (:workspace::uuid is null or workspace_id = :workspace)
                 group by run_id, step_id),
            of_runs as (
                select r.id as run_id, r.workspace_id, r.attempt_number, r.credits_uncollected
                    + coalesce((select sum(a.uncollected) from run_attempts a
                        where a.run_id = r.id and a.attempt_number < r.attempt_number), 0) as uncollected
                  from orchestration_runs r where :workspace::uuid is null or r.workspace_id = :workspace),
            cost as (
                select run_id, step_id, count(*) as tries, sum(cost) as cost
                  from (select run_id, step_id, cost from work_results where cost > 0
                    union all
                    select run_id, id, (metered ->> 'cost')::numeric from task_steps s
                     where (metered ->> 'cost')::numeric > 0 and not exists (
                        select from work_results w where w.step_id = s.id and w.epoch = (s.metered ->> 'epoch')::int)) used
                 group by run_id, step_id),
            compared as (
                select r.workspace_id, r.run_id, step_id, coalesce(paid.attempt_number, r.attempt_number) as attempt_number,
                    coalesce(cost, 0) as cost, coalesce(tries, 0) as tries, coalesce(charged, 0) as charged,
                    coalesce(charges, 0) as charges, r.uncollected, coalesce(in_parts, false) as in_parts
                  from paid full join cost using (run_id, step_id) join of_runs r using (run_id))
            select * from compared
             where charged > cost or charges > tries
                or uncollected = 0 and (charged < cost or charges < tries and not in_parts)
             order by workspace_id, run_id, step_id limit 1""");

    private static final Sql WRONG_BALANCE = Sql.of("""
            with folded as (
                select workspace_id,
                    sum(case 'available' when credit_account then amount when debit_account then -amount else 0 end)
                        as available,
                    sum(case 'reserved' when credit_account then amount when debit_account then -amount else 0 end)
                        as reserved,
                    sum(case 'spent' when credit_account then amount when debit_account then -amount else 0 end) as spent
                  from billing_ledger
                 where :workspace::uuid is null or workspace_id = :workspace
                 group by workspace_id),
            charged as (
                select r.workspace_id, sum(h.credits_charged) as open
                  from run_heads h join orchestration_runs r on r.id = h.run_id
                 where h.credits_charged <> 0 and (:workspace::uuid is null or r.workspace_id = :workspace)
                 group by r.workspace_id),
            held as (select * from credit_balances where :workspace::uuid is null or workspace_id = :workspace),
            compared as (
                select workspace_id, coalesce(folded.available, 0) as should_available,
                    coalesce(folded.reserved, 0) + coalesce(open, 0) as should_reserved,
                    coalesce(folded.spent, 0) - coalesce(open, 0) as should_spent,
                    held.available, held.reserved, held.spent
                  from folded full join held using (workspace_id) left join charged using (workspace_id))
            select * from compared
             where (should_available, should_reserved, should_spent) is distinct from (available, reserved, spent)
             order by workspace_id limit 1""");

    private static final Sql COUNTS =
            Sql.of("""
            select (select count(*) from billing_ledger where :workspace::uuid is null or workspace_id = :workspace) as entries,
                (select count(*) from run_attempts a join orchestration_runs r on r.id = a.run_id
                  where :workspace::uuid is null or r.workspace_id = :workspace) as attempts,
                (select count(*) from credit_balances
                  where :workspace::uuid is null or workspace_id = :workspace) as workspaces""");

    private final Database database;

    /** It reads everything there is: one at a time on this server. */
    private final Lock turn = new ReentrantLock();

    public LedgerVerification(Database database) {
        this.database = database;
    }

    /** @param workspace null for all */
    public Report verify(@Nullable UUID workspace) {
        turn.lock();
        try {
            return workspace == null ? Tenancy.allWorkspaces(() -> database.inTransaction(c -> verify(c, null)))
                    : database.inTransaction(c -> verify(c, workspace));
        } finally {
            turn.unlock();
        }
    }

    private static Report verify(Connection c, @Nullable UUID workspace) throws SQLException {
        c.setNetworkTimeout(Runnable::run, (int) QUERY_TIMEOUT.plusSeconds(30).toMillis());
        try (Statement statement = c.createStatement()) {
            statement.execute(SNAPSHOT);
            statement.execute("set local statement_timeout = " + QUERY_TIMEOUT.toMillis());
            statement.execute("set local work_mem = '64MB'");
        }
        Discrepancy wrong = find(c, WRONG_ATTEMPT, workspace, LedgerVerification::attempt);
        if (wrong == null) {
            wrong = find(c, WRONG_RUN, workspace, LedgerVerification::run);
        }
        if (wrong == null) {
            wrong = find(c, WRONG_STEP, workspace, LedgerVerification::step);
        }
        if (wrong == null) {
            wrong = find(c, WRONG_BALANCE, workspace, LedgerVerification::balance);
        }
        Discrepancy found = wrong;
        return COUNTS.on(c).set("workspace", workspace)
                .one(row -> new Report(row.getLong("entries"), row.getLong("attempts"),
                        row.getLong("workspaces"), found));
    }

    private static @Nullable Discrepancy find(Connection c, Sql sql, @Nullable UUID workspace,
            Rows.Reader<Discrepancy> reader)
            throws SQLException {
        return sql.on(c).set("workspace", workspace).first(reader).orElse(null);
    }

    private static Discrepancy attempt(ResultSet row) throws SQLException {
        UUID workspace = row.getObject("workspace_id", UUID.class);
        UUID run = row.getObject("run_id", UUID.class);
        int attempt = row.getInt("attempt_number");
        if (!row.getBoolean("there")) {
            return new Discrepancy(Kind.ATTEMPT_MISSING, workspace, run, attempt, null, "reserved",
                    amount(row, "should_reserved"), null);
        }
        for (String figure : List.of("reserved", "charged", "refunded")) {
            if (amount(row, "should_" + figure).compareTo(amount(row, figure)) != 0) {
                return new Discrepancy(Kind.ATTEMPT_DIFFERS, workspace, run, attempt, null, figure,
                        amount(row, "should_" + figure), amount(row, figure));
            }
        }
        return new Discrepancy(Kind.ATTEMPT_NOT_EVEN, workspace, run, attempt, null, "reserved",
                amount(row, "reserved"), amount(row, "charged").add(amount(row, "refunded")));
    }

    private static Discrepancy run(ResultSet row) throws SQLException {
        boolean sum = amount(row, "charged").compareTo(amount(row, "should_charged")) != 0;
        String figure = sum ? "charged" : "remainder";
        return new Discrepancy(Kind.RUN_DIFFERS, row.getObject("workspace_id", UUID.class),
                row.getObject("run_id", UUID.class), row.getInt("attempt_number"), null, figure,
                amount(row, "should_" + figure), amount(row, figure));
    }

    private static Discrepancy step(ResultSet row) throws SQLException {
        boolean number = amount(row, "charged").compareTo(amount(row, "cost")) == 0;
        return new Discrepancy(Kind.STEP_DIFFERS, row.getObject("workspace_id", UUID.class),
                row.getObject("run_id", UUID.class), row.getInt("attempt_number"),
                row.getObject("step_id", UUID.class), number ? "charges" : "charged",
                amount(row, number ? "tries" : "cost"), amount(row, number ? "charges" : "charged"));
    }

    private static Discrepancy balance(ResultSet row) throws SQLException {
        UUID workspace = row.getObject("workspace_id", UUID.class);
        if (row.getBigDecimal("available") == null) {
            return new Discrepancy(Kind.BALANCE_MISSING, workspace, null, null, null, "available",
                    amount(row, "should_available"), null);
        }
        for (String figure : List.of("available", "reserved", "spent")) {
            if (amount(row, "should_" + figure).compareTo(amount(row, figure)) != 0) {
                return new Discrepancy(Kind.BALANCE_DIFFERS, workspace, null, null, null, figure,
                        amount(row, "should_" + figure), amount(row, figure));
            }
        }
        throw new IllegalStateException("a balance differs in nothing");
    }

    private static BigDecimal amount(ResultSet row, String column) throws SQLException {
        BigDecimal amount = row.getBigDecimal(column);
        return amount == null ? BigDecimal.ZERO : amount;
    }
}
