package io.keelson.server;

import io.keelson.server.db.Database;
import io.keelson.server.db.TxFunction;
import io.keelson.server.run.Fleet;
import java.util.Set;
import java.util.function.Supplier;

/** The tools that workers serve, as of a moment ago: one look serves all steps of a plan that is being checked. */
final class ServedTools implements Supplier<Set<String>> {

    private static final long FRESH_NANOS = 100_000_000;

    private record Look(long at, Set<String> tools) {}

    private final Database database;
    private final Fleet fleet;
    private volatile Look last = new Look(System.nanoTime() - FRESH_NANOS, Set.of());

    ServedTools(Database database, Fleet fleet) {
        this.database = database;
        this.fleet = fleet;
    }

    @Override
    public Set<String> get() {
        long now = System.nanoTime();
        Look look = last;
        if (now - look.at >= FRESH_NANOS) {
            TxFunction<Set<String>> served = fleet::served;
            look = new Look(now, database.withConnection(served));
            last = look;
        }
        return look.tools;
    }
}
