package io.keelson.server.tenant.money;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.api.money.LedgerEntry;
import io.keelson.core.money.LedgerAccount;
import io.keelson.server.base.db.SqlFailure;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LedgerTest {

    private static Books books;

    private final UUID workspace = books.workspace();

    @BeforeAll
    static void open() {
        books = new Books();
    }

    @AfterAll
    static void close() {
        books.close();
    }

    @Test
    void aWorkspaceIsBornWithNothing() {
        assertThat(books.query("select available + reserved + spent from credit_balances where workspace_id = '"
                + workspace + "'")).containsExactly("0.000000");
    }

    @Test
    void aGrantIsBookedAndAvailable() {
        Booking.Done done = done(books.money.ledger().grant(workspace, new BigDecimal("12.345678"), "welcome", "k",
                Books.WHO));

        assertThat(done.repeated()).isFalse();
        LedgerEntry entry = done.entry();
        assertThat(List.of(entry.debitAccount(), entry.creditAccount(), entry.amount(), entry.reason()))
                .containsExactly("funding", "available", new BigDecimal("12.345678"), "welcome");
        assertThat(List.of(entry.transactionType(), entry.idempotencyKey(), entry.actorType(), entry.actorId()))
                .containsExactly("grant", "k", "human", "a key");
        assertThat(available()).isEqualTo("12.345678");
        assertThat(entries()).containsExactly(entry);
    }

    @Test
    void sameKeyIsBookedOnce() {
        LedgerEntry first = done(books.grant(workspace, "5", "k")).entry();

        assertThat(books.grant(workspace, "5.000", "k")).isEqualTo(new Booking.Done(first, true));
        assertThat(books.grant(workspace, "6", "k")).isEqualTo(new Booking.KeyTaken(first));
        assertThat(books.money.ledger().grant(workspace, new BigDecimal("5"), "why", "k", Books.WHO))
                .isEqualTo(new Booking.KeyTaken(first));
        assertThat(available()).isEqualTo("5.000000");
        assertThat(entries()).containsExactly(first);
    }

    @Test
    void aKeyIsItsWorkspacesAndItsTypes() {
        UUID other = books.workspace();
        done(books.grant(workspace, "5", "k"));

        assertThat(done(books.grant(other, "7", "k")).repeated()).isFalse();
        assertThat(done(adjust(LedgerAccount.AVAILABLE, LedgerAccount.SPENT, "1", "k")).repeated()).isFalse();
        assertThat(books.money.balance(other).available()).isEqualByComparingTo("7");
    }

    @Test
    void aCorrectionMovesBetweenAccounts() {
        done(books.grant(workspace, "10", "g"));

        done(adjust(LedgerAccount.AVAILABLE, LedgerAccount.SPENT, "3", "late"));
        done(adjust(LedgerAccount.SPENT, LedgerAccount.AVAILABLE, "1", "kind"));
        done(adjust(LedgerAccount.AVAILABLE, LedgerAccount.FUNDING, "2", "back"));

        assertThat(books.money.balance(workspace))
                .isEqualTo(new WorkspaceBalance(amount("6"), amount("0"), amount("2")));
        assertThat(entries()).extracting(LedgerEntry::reason).containsExactly("because", "because", "because", null);
    }

    @Test
    void nothingGoesBelowZeroOrBeyondWhatAnAccountHolds() {
        done(books.grant(workspace, "2", "g"));
        WorkspaceBalance before = books.money.balance(workspace);

        assertThat(adjust(LedgerAccount.AVAILABLE, LedgerAccount.FUNDING, "2.000001", "a"))
                .isEqualTo(new Booking.Impossible(LedgerAccount.AVAILABLE, before));
        assertThat(adjust(LedgerAccount.SPENT, LedgerAccount.AVAILABLE, "1", "b"))
                .isEqualTo(new Booking.Impossible(LedgerAccount.SPENT, before));
        books.execute("update credit_slots set available = 99999999999999.5 where slot = 0 and workspace_id = '"
                + workspace + "'");
        assertThat(books.grant(workspace, "0.6", "c")).isInstanceOf(Booking.Impossible.class);
        assertThat(entries()).hasSize(1);
    }

    @Test
    void correctionCannotTakeReservedCredits() {
        assertThatThrownBy(() -> adjust(LedgerAccount.RESERVED, LedgerAccount.AVAILABLE, "1", "k"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0000001", "-1", "1000000000.000001", "1E+10"})
    void noOtherAmountIsBooked(String amount) {
        assertThatThrownBy(() -> books.grant(workspace, amount, "k")).isInstanceOf(IllegalArgumentException.class);
        assertThat(available()).isEqualTo("0.000000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"update billing_ledger set amount = 1", "delete from billing_ledger",
            "truncate billing_ledger", "update prices set name = 'x'", "delete from prices", "truncate prices"})
    void ledgerIsAppendOnly(String sql) {
        done(books.grant(workspace, "5", "k"));
        books.money.prices().change(List.of(PriceChange.tool("kept", BigDecimal.ONE)), "me",
                (c, version, changes) -> {
                });

        assertThatThrownBy(() -> books.execute(sql)).isInstanceOf(SqlFailure.class)
                .hasMessageContaining("is append-only");
    }

    /** Type, accounts, run, attempt and amount fit together, or the database refuses the row. */
    @ParameterizedTest
    @CsvSource(nullValues = "null", value = {
            "grant, 0, funding, available, null, null, null",
            "grant, -1, funding, available, null, null, null",
            "grant, 'NaN', funding, available, null, null, null",
            "grant, 1, available, funding, null, null, null",
            "grant, 1, funding, available, 7, 1, null",
            "reserve, 1, available, reserved, null, null, null",
            "reserve, 1, available, reserved, 7, null, null",
            "reserve, 1, available, reserved, 7, 0, null",
            "charge, 1, available, spent, 7, 1, null",
            "refund, 1, reserved, spent, 7, 1, null",
            "adjustment, 1, spent, spent, null, null, why",
            "adjustment, 1, spent, elsewhere, null, null, why",
            "adjustment, 1, spent, available, null, null, null",
            "adjustment, 1, spent, available, null, null, ''",
            "gift, 1, funding, available, null, null, null"})
    void anImpossibleTransferIsRefused(String type, String amount, String debit, String credit, String run,
            String attempt, String reason) {
        String id = run == null ? "null" : "'00000000-0000-7000-8000-00000000000" + run + "'";
        String detail = reason == null ? "null" : "'{\"reason\": \"" + reason + "\"}'";

        assertThatThrownBy(() -> books.execute("""
                insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account,
                    run_id, attempt_number, idempotency_key, actor_type, detail, created_at)
                values ('%s', '%s', '%s', '%s', '%s', %s, %s, 'k', 'system', %s, now())"""
                .formatted(workspace, type, amount, debit, credit, id, attempt, detail)))
                .hasMessageContaining("ck_billing_ledger_valid");
    }

    @ParameterizedTest
    @CsvSource({"available = -0.000001, ck_credit_slots_available", "withheld = -1, keelson_amount",
            "funded = -1, keelson_amount", "spent = -1, keelson_amount",
            "available = 'NaN', ck_credit_slots_available"})
    void anImpossibleBalanceIsRefused(String change, String rule) {
        assertThatThrownBy(() -> books.execute("update credit_slots set " + change)).hasMessageContaining(rule);
    }

    /** Eight at once, some with the same keys, some taking back more than there may be: what went in is there. */
    @Test
    void atOnceNothingIsLostAndNothingCountsTwice() throws Exception {
        CyclicBarrier together = new CyclicBarrier(8);
        List<Callable<Void>> hands = new ArrayList<>();
        for (int hand = 0; hand < 8; hand++) {
            Random random = new Random(hand);
            int own = hand;
            hands.add(() -> {
                together.await();
                for (int i = 0; i < 60; i++) {
                    switch (random.nextInt(3)) {
                        case 0 -> books.grant(workspace, "1.5", "shared " + random.nextInt(40));
                        case 1 -> books.grant(workspace, "0.25", own + " " + i);
                        default -> adjust(LedgerAccount.AVAILABLE, LedgerAccount.SPENT, "2.125", own + " " + i);
                    }
                }
                return null;
            });
        }
        try (ExecutorService pool = Executors.newFixedThreadPool(8)) {
            for (Future<Void> each : pool.invokeAll(hands)) {
                each.get();
            }
        }

        BigDecimal granted = sum("grant");
        BigDecimal taken = sum("adjustment");
        assertThat(books.money.balance(workspace))
                .isEqualTo(new WorkspaceBalance(granted.subtract(taken), amount("0"), taken));
        assertThat(books.query("select idempotency_key from billing_ledger where workspace_id = '" + workspace
                + "' and idempotency_key like 'shared %'")).doesNotHaveDuplicates().hasSizeBetween(20, 40);
        assertThat(taken).isPositive();
    }

    private BigDecimal sum(String type) {
        return new BigDecimal(books.query("select sum(amount) from billing_ledger where workspace_id = '" + workspace
                + "' and transaction_type = '" + type + "'").getFirst());
    }

    private Booking adjust(LedgerAccount from, LedgerAccount to, String amount, String key) {
        return books.money.ledger().adjust(workspace, from, to, new BigDecimal(amount), "because", key, Books.WHO,
                LedgerBooking.NONE);
    }

    private String available() {
        return books.money.balance(workspace).available().toPlainString();
    }

    private List<LedgerEntry> entries() {
        return books.money.entries().newestFirst(workspace, new LedgerReader.Filter(null, null, null), null, 10);
    }

    private static Booking.Done done(Booking booking) {
        assertThat(booking).isInstanceOf(Booking.Done.class);
        return (Booking.Done) booking;
    }

    private static BigDecimal amount(String text) {
        return new BigDecimal(text).setScale(CreditAmounts.SCALE);
    }
}
