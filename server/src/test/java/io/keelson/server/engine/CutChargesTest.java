package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.tenant.money.Booking;
import io.keelson.server.tenant.money.LedgerBooking;
import io.keelson.server.tenant.money.Money;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The connection is lost with the COMMIT of a reservation, a charge, an
 * extension, a refund or a grant, or with its answer. More of it with {@code ./check --all} or {@code -Dkeelson.charge.cuts=1000}.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class CutChargesTest {
    private static final int CUTS = Integer.getInteger("keelson.charge.cuts", Breadth.of(15, 1_000));
    private static final long SEED = Long.getLong("keelson.charge.seed", 1);
    private static final String MISSION = """
            name: dear
            plan:
              tasks:
                - {id: a, title: A, steps: [{name: one, tool: noop, input: {cost: 0.7}}, {name: two, tool: noop, input: {cost: 0.6}}]}
                - {id: b, title: B, depends_on: [a], steps: [{name: one, tool: noop, input: {tokens: 9, cost: 0.1}}]}
                - {id: c, title: C, depends_on: [a], steps: [{name: one, tool: noop, input: {cost: 0.2}}]}
            """;

    @Test
    void nothingIsChargedTwice(@TempDir Path folder) throws Exception {
        try (CountingProxy proxy = new CountingProxy(TestDatabase.createUrl());
                Database database = new Database(proxy.url(), DatabaseOptions.DEFAULTS);
                Nodes nodes = new Nodes(folder, database)) {
            Cuts cuts = new Cuts(proxy, new Write("billing_ledger", ""), new Random(SEED));
            List<UUID> runs = cuts.during(nodes, MISSION, CUTS, number -> grant(nodes, number));
            proxy.spare();
            runs.forEach(run -> nodes.awaitState(run, "completed"));
            assertThat(nodes.count("select count(*) from orchestration_runs")).isEqualTo(runs.size());
            assertThat(nodes.count("select count(*) from billing_ledger where transaction_type = 'charge'"))
                    .isEqualTo(4L * runs.size());
            assertThat(nodes.count("select count(*) from billing_ledger where transaction_type = 'refund'"))
                    .isEqualTo(runs.size());
            assertThat(nodes
                    .count("select count(*) from billing_ledger where idempotency_key like 'cut %' and amount = 2"))
                    .as("grants, each answered in the end").isEqualTo(runs.size());
            assertThat(nodes.text("select spent = 1.6 * " + runs.size() + " and reserved = 0 from credit_balances"))
                    .isEqualTo("t");
            nodes.assertSound();
            Invariants.hold(nodes.database);
            System.out.printf("cut charges: %d cuts over %d runs%n", cuts.count(), runs.size());
        }
    }

    /** Until it is known to be booked. */
    private static void grant(Nodes nodes, int number) {
        LedgerBooking ledger = new Money(nodes.database, DbClock.DATABASE).ledger();
        Awaitility.await().atMost(Duration.ofMinutes(1)).ignoreExceptionsInstanceOf(SqlFailure.class)
                .until(() -> ledger.grant(Nodes.WORKSPACE, new BigDecimal(2), null, "cut " + number, Nodes.WHO),
                        Booking.Done.class::isInstance);
    }
}
