package io.keelson.server;

import io.keelson.core.run.Actor;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.tenant.money.Money;
import java.math.BigDecimal;
import java.util.UUID;

/** Credits for workspaces of tests: so many that none is short of them, unless it is to be. */
public final class TestCredits {

    private TestCredits() {}

    /** More than any test can use. */
    public static void grant(Database database, UUID workspace) {
        grant(database, workspace, "1000000");
    }

    public static void grant(Database database, UUID workspace, String amount) {
        new Money(database, DbClock.DATABASE).ledger().grant(workspace, new BigDecimal(amount), "for a test",
                UUID.randomUUID().toString(), Actor.SYSTEM);
    }
}
