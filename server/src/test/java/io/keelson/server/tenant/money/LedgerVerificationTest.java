package io.keelson.server.tenant.money;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.LedgerAccount;
import io.keelson.server.tenant.money.Discrepancy.Kind;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Books that are right, and every way in which they can be wrong: planted with triggers switched off. */
class LedgerVerificationTest {

    private final Books books = new Books();
    private final UUID workspace = books.workspace();
    private final UUID one = UUID.fromString("00000000-0000-7000-8000-000000000001");
    private final UUID two = UUID.fromString("00000000-0000-7000-8000-000000000002");
    private final UUID run = UUID.fromString("00000000-0000-7000-8000-0000000000aa");

    /** Granted 100; attempt 1 reserved 10, was charged 4 and settled; attempt 2 reserved 5 and was charged 2 so far. */
    @BeforeEach
    void write() {
        books.grant(workspace, "100", "g");
        books.execute("""
                insert into orchestration_runs (id, workspace_id, title, goal, created_by, attempt_number, state, state_type)
                values ('%s', '%s', 't', 'g', 'me', 2, 'running', 'running')""".formatted(run, workspace));
        books.execute("""
                insert into run_heads (run_id, version_id, last_seq, steps_completed, total_tokens, total_cost, updated_at,
                    credits_left, credits_charged)
                values ('%s', 1, 1, 0, 0, 0, now(), 3, 2)""".formatted(run));
        books.execute("""
                insert into run_attempts (run_id, attempt_number, state, started_at, completed_at, credits_reserved,
                    credits_charged, credits_refunded, settled_at)
                values ('%1$s', 1, 'failed', now(), now(), 10, 4, 6, now()),
                       ('%1$s', 2, 'running', now(), null, 0, 0, 0, null)""".formatted(run));
        books.execute("""
                insert into step_results (step_id, epoch, run_id, outcome, tokens, cost, recorded_at)
                values ('%1$s', 1, '%3$s', 'failed', 0, 4, now()), ('%1$s', 2, '%3$s', 'completed', 0, 1.5, now()),
                       ('%2$s', 2, '%3$s', 'failed', 0, 0, now())""".formatted(one, two, run));
        books.execute("""
                insert into task_steps (id, run_id, task_id, workspace_id, attempt_of_run, name, kind, tool, position,
                    input, retry, timeout_ms, state, state_type, lease_epoch, result_epoch, tokens, cost, completed_by,
                    completed_at, created_at)
                values ('%s', '%s', gen_random_uuid(), '%s', 1, 's', 'tool', 'noop', 1, '{}', '{}', 1, 'completed', 'terminal',
                    1, 1, 7, 0.5, 'me', now(), now())""".formatted(two, run, workspace));
        transfer("reserve", "available", "reserved", "10", 1, "r1");
        transfer("charge", "reserved", "spent", "4", 1, "c1");
        transfer("refund", "reserved", "available", "6", 1, "s1");
        transfer("reserve", "available", "reserved", "5", 2, "r2");
        transfer("charge", "reserved", "spent", "1.5", 2, "c2");
        transfer("charge", "reserved", "spent", "0.5", 2, "c3");
        books.execute("update credit_slots set available = case slot when 0 then 91 else 0 end,"
                + " spent = case slot when 1 then 4 else 0 end where workspace_id = '" + workspace + "'");
    }

    @AfterEach
    void close() {
        books.close();
    }

    @Test
    void booksThatAreRightAreFoundRight() {
        books.workspace();

        assertThat(books.money.audit().verify(null)).isEqualTo(new LedgerVerification.Report(7, 2, 2, null));
        assertThat(books.money.audit().verify(workspace)).isEqualTo(new LedgerVerification.Report(7, 2, 1, null));
        assertThat(books.money.audit().verify(UUID.randomUUID()))
                .isEqualTo(new LedgerVerification.Report(0, 0, 0, null));
    }

    @Test
    void aLeaseWithoutCostsNeedsNoCharge() {
        books.execute("update task_steps set metered = '{\"epoch\": 99, \"cost\": 0}'");

        assertThat(books.money.audit().verify(null)).isEqualTo(new LedgerVerification.Report(7, 2, 1, null));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "update run_attempts set credits_charged = 5, credits_refunded = 5 where attempt_number = 1"
                    + " | ATTEMPT_DIFFERS | 1 | charged | 4 | 5",
            "update run_attempts set credits_reserved = 11, credits_refunded = 7 where attempt_number = 1"
                    + " | ATTEMPT_DIFFERS | 1 | reserved | 10 | 11",
            "update run_heads set credits_charged = 1.5, credits_left = 3.5 | ATTEMPT_DIFFERS | 2 | charged | 2 | 1.5",
            "update run_heads set credits_left = 4 | ATTEMPT_DIFFERS | 2 | reserved | 5 | 6",
            "delete from billing_ledger where idempotency_key = 'c1' | ATTEMPT_DIFFERS | 1 | charged | 0 | 4",
            "delete from billing_ledger where idempotency_key = 's1' | ATTEMPT_DIFFERS | 1 | refunded | 0 | 6",
            "update billing_ledger set amount = 1.6 where idempotency_key = 'c2' | ATTEMPT_DIFFERS | 2 | charged | 2.1 | 2",
            "update billing_ledger set cost = 1.5000006 where idempotency_key = 'c2' | RUN_DIFFERS | 2 | charged | 6.000001 | 6",
            "update billing_ledger set cost = 1.5000004 where idempotency_key = 'c2'"
                    + " | RUN_DIFFERS | 2 | remainder | 0.0000004 | 0",
            "update run_heads set credits_remainder = -0.0000001 | RUN_DIFFERS | 2 | remainder | 0 | -0.0000001",
            "delete from run_attempts where attempt_number = 1 | ATTEMPT_MISSING | 1 | reserved | 10 |",
            "update orchestration_runs set attempt_number = 3 | ATTEMPT_DIFFERS | 2 | reserved | 5 | 0",
            "delete from billing_ledger where idempotency_key = 'g' | BALANCE_DIFFERS | | available | -9 | 91",
            "update credit_slots set available = 91.000001 where available > 0"
                    + " | BALANCE_DIFFERS | | available | 91 | 91.000001",
            "update credit_slots set funded = funded - 0.5 where slot = 3 | BALANCE_DIFFERS | | reserved | 5 | 4.5",
            "update credit_slots set spent = 6, funded = funded + 2 where spent > 0 | BALANCE_DIFFERS | | spent | 4 | 6",
            "delete from credit_slots | BALANCE_MISSING | | available | 91 |"})
    void discrepanciesAreNamed(String planted, Kind kind, Integer attempt, String figure, BigDecimal expected,
            BigDecimal actual) {
        plant(planted);

        Discrepancy found = Objects.requireNonNull(books.money.audit().verify(workspace).discrepancy());
        assertThat(List.of(found.kind(), found.workspaceId(), found.figure()))
                .isEqualTo(List.of(kind, workspace, figure));
        assertThat(found.runId()).isEqualTo(attempt == null ? null : run);
        assertThat(found.attempt()).isEqualTo(attempt);
        assertThat(found.expected()).isEqualByComparingTo(expected);
        assertThat(found.actual()).usingComparator(nullsEqual()).isEqualTo(actual);
        assertThat(books.money.audit().verify(null).discrepancy()).isEqualTo(found);
        assertThat(books.money.audit().verify(books.workspace()).discrepancy()).isNull();
    }

    /** Attempts and balances are right in all of these. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "update step_results set cost = 1.4 where cost = 1.5 | 1 | charged | 5.4 | 5.5",
            "update step_results set cost = 1.6 where cost = 1.5 | 1 | charged | 5.6 | 5.5",
            "delete from task_steps where cost = 0.5 | 2 | charged | 0 | 0.5",
            "update billing_ledger set step_id = null where idempotency_key = 'c3' | 2 | charged | 0.5 | 0",
            "update step_results set cost = 5.5 where cost = 4; delete from step_results where cost = 1.5"
                    + " | 1 | charges | 1 | 2",
            "update task_steps set cost = 0.25 where tokens = 7; update step_results set cost = 0.25 where cost = 0"
                    + " | 2 | charges | 2 | 1",
            "update billing_ledger set idempotency_key = 's/1/used/1/7' where idempotency_key = 'c2';"
                    + " update step_results set cost = 1.4 where cost = 1.5 | 1 | charged | 5.4 | 5.5",
            "update step_results set cost = 1.5000001 where cost = 1.5 | 1 | charged | 5.5000001 | 5.5",
            "update orchestration_runs set credits_uncollected = 1; update task_steps set cost = 0.4 where cost = 0.5"
                    + " | 2 | charged | 0.4 | 0.5"})
    void aStepWithOtherChargesThanItsCostIsNamed(String planted, int step, String figure, BigDecimal expected,
            BigDecimal actual) {
        plant(planted);

        Discrepancy found = Objects.requireNonNull(books.money.audit().verify(workspace).discrepancy());
        assertThat(found.kind()).isEqualTo(Kind.STEP_DIFFERS);
        assertThat(found.runId()).isEqualTo(run);
        assertThat(found.stepId()).isEqualTo(step == 1 ? one : two);
        assertThat(found.figure()).isEqualTo(figure);
        assertThat(found.expected()).isEqualByComparingTo(expected);
        assertThat(found.actual()).isEqualByComparingTo(actual);
        assertThat(books.money.audit().verify(books.workspace()).discrepancy()).isNull();
    }

    /** The use of a lease is charged in parts; its cost is in its result, or without one in the step's row. */
    @ParameterizedTest
    @ValueSource(strings = {
            "update billing_ledger set amount = 1, idempotency_key = 's/1/used/1/7' where idempotency_key = 'c2'",
            "delete from step_results where cost = 1.5; delete from billing_ledger where idempotency_key = 'c2';"
                    + " update task_steps set metered = '{\"epoch\": 3, \"cost\": 1.5}'"})
    void partsOfAUseAreNoDiscrepancy(String planted) {
        plant(planted);
        transfer("charge", "reserved", "spent", planted.startsWith("delete") ? "1" : "0.3", 2, "s/1/used/2/8");
        transfer("charge", "reserved", "spent", planted.startsWith("delete") ? "0.5" : "0.2", 2, "s/1/unfetched/2");
        if (planted.startsWith("delete")) {
            plant("update billing_ledger set step_id = '" + two + "' where idempotency_key like 's/1/%'");
        }

        assertThat(books.money.audit().verify(workspace).discrepancy()).isNull();

        plant(planted.startsWith("delete") ? "update task_steps set metered = '{\"epoch\": 3, \"cost\": 1.4}'"
                : "update step_results set cost = 1.4 where cost = 1.5");
        assertThat(Objects.requireNonNull(books.money.audit().verify(workspace).discrepancy()).kind())
                .isEqualTo(Kind.STEP_DIFFERS);
    }

    @Test
    void uncollectedCostIsNoDiscrepancy() {
        plant("update orchestration_runs set credits_uncollected = 1; update step_results set cost = 2.5 where cost = 1.5");

        assertThat(books.money.audit().verify(workspace).discrepancy()).isNull();
    }

    /** Each charge has been rounded with those before it, one of them to nothing. */
    @Test
    void roundedChargesAreNoDiscrepancy() {
        plant("update billing_ledger set cost = 1.5000004 where idempotency_key = 'c2';"
                + " update step_results set cost = 1.5000004 where cost = 1.5;"
                + " update billing_ledger set cost = 0.5000002, amount = 0.500001 where idempotency_key = 'c3';"
                + " update task_steps set cost = 0.5000002 where cost = 0.5;"
                + " update run_heads set credits_charged = 2.000001, credits_left = 2.999999, credits_remainder = -0.0000004");

        assertThat(books.money.audit().verify(workspace).discrepancy()).isNull();
    }

    /** Both sides agree that more was refunded than was there. */
    @Test
    void anAttemptThatIsNotEvenIsNamed() {
        books.execute("alter table run_attempts drop constraint ck_run_attempts_credits");
        plant("update run_attempts set credits_refunded = 7 where attempt_number = 1;"
                + " update billing_ledger set amount = 7 where idempotency_key = 's1'");

        Discrepancy found = Objects.requireNonNull(books.money.audit().verify(workspace).discrepancy());
        assertThat(found.kind()).isEqualTo(Kind.ATTEMPT_NOT_EVEN);
        assertThat(found.message()).isEqualTo("workspace " + workspace + ", run " + run
                + ", attempt 1: settled, and charged and refunded are 11 together where 10 was reserved");
    }

    @Test
    void aTransferInTheNameOfAnotherWorkspaceIsNamed() {
        UUID other = books.workspace();
        plant("update billing_ledger set workspace_id = '" + other + "' where idempotency_key = 'c2'");

        Discrepancy found = Objects.requireNonNull(books.money.audit().verify(other).discrepancy());
        assertThat(found.kind()).isEqualTo(Kind.ATTEMPT_MISSING);
    }

    @Test
    void ledgerOfADeletedRunIsConsistentWhenBalanced() {
        plant("delete from run_attempts; delete from run_heads; delete from orchestration_runs");
        assertThat(Objects.requireNonNull(books.money.audit().verify(workspace).discrepancy()).attempt()).isEqualTo(2);

        transfer("refund", "reserved", "available", "3", 2, "s2");
        books.execute("update credit_slots set available = available + 3 * (slot = 0)::int,"
                + " spent = spent + 2 * (slot = 3)::int where workspace_id = '" + workspace + "'");

        assertThat(books.money.audit().verify(workspace).discrepancy()).isNull();
    }

    @Test
    void aCorrectionIsNoPartOfAnAttempt() {
        books.money.ledger().adjust(workspace, LedgerAccount.SPENT, LedgerAccount.AVAILABLE, BigDecimal.ONE, "kind",
                "a",
                Books.WHO, LedgerBooking.NONE);

        assertThat(books.money.audit().verify(workspace).discrepancy()).isNull();
    }

    @Test
    void discrepancyNamesPlaceAndFigures() {
        plant("update run_heads set credits_charged = 1.5, credits_left = 3.5");

        assertThat(Objects.requireNonNull(books.money.audit().verify(null).discrepancy()).message()).isEqualTo(
                "workspace " + workspace + ", run " + run
                        + ", attempt 2: charged should be 2 by the ledger and is 1.5");
    }

    private static Comparator<BigDecimal> nullsEqual() {
        return Comparator.nullsFirst(BigDecimal::compareTo);
    }

    private void transfer(String type, String debit, String credit, String amount, int attempt, String key) {
        books.execute("""
                insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id,
                    attempt_number, step_id, idempotency_key, actor_type, created_at)
                values ('%s', '%s', %s, '%s', '%s', '%s', %d, %s, '%s', 'system', now())""".formatted(workspace, type,
                amount, debit, credit, run, attempt,
                type.equals("charge") ? "'" + (key.equals("c3") ? two : one) + "'" : "null", key));
    }

    private void plant(String sql) {
        books.execute("set local session_replication_role = replica; " + sql);
    }
}
