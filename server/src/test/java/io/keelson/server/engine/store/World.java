package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.ViewText;
import io.keelson.core.money.CreditBalances;
import io.keelson.core.money.Funds;
import io.keelson.core.money.Prices;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.plan.Plan;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * A database, a fixed clock, and a minimal committer. It decides batches of commands on views in memory and writes them;
 * afterwards the views loaded from the database must equal those in memory.
 */
public final class World implements AutoCloseable {
    /** One model has a price. */
    private static final Funds FUNDS = new Funds(new Prices(Map.of(), Map.of("model",
            new Prices.ModelPrice(TokenPrices.flat(BigDecimal.ONE), 1))), CreditBalances.BOTTOMLESS);

    public final Database database;
    public final UUID workspace;
    final Map<UUID, RunView> views = new HashMap<>();
    /** By what {@link RunFixtures#planOf} reads of their documents. */
    final Map<String, Plan> plans = new HashMap<>();
    public final RunStore store;
    final Ids ids;
    public Instant now = Instant.parse("2026-01-01T00:00:00Z");
    public LocalCapacity capacity = LocalCapacity.none();

    private final Connection connection;
    private long counter;

    World() {
        this(TestDatabase.create(), UnaryOperator.identity());
    }

    /**
     * @param database taken over
     * @param watch    wraps the committer's connection
     */
    World(Database database, UnaryOperator<Connection> watch) {
        this.database = database;
        workspace = RunFixtures.workspace(database);
        connection = watch.apply(database.committerConnection());
        store = new RunStore(() -> now, text -> plans.get(RunFixtures.planOf(text)),
                Duration.ofDays(30));
        ids = () -> new UUID(++counter << 16 | 0x7000, 0x8000_0000_0000_0000L);
    }

    public Connection connection() {
        return connection;
    }

    public void tick(Duration duration) {
        now = now.plus(duration);
    }

    RunView view(UUID run) {
        return views.get(run);
    }

    Reply send(Command command) throws SQLException {
        return sendAll(List.of(command)).getFirst();
    }

    /** Decides the commands in one transaction. */
    List<Reply> sendAll(List<Command> commands) throws SQLException {
        TreeSet<UUID> runs = new TreeSet<>();
        commands.forEach(command -> runs.add(command.runId()));
        RunStore.Locked locked = store.lock(connection, runs);
        for (UUID run : locked.versions().keySet()) {
            if (!views.containsKey(run)) {
                views.put(run, load(run));
            }
        }
        ChangeSet changes = new ChangeSet();
        List<Reply> replies = new ArrayList<>();
        for (Command command : commands) {
            if (command instanceof Command.Create create) {
                plans.put(create.runId().toString(), create.run().plan());
                views.put(create.runId(),
                        Decider.create(create, changes, locked.now(), ids, capacity, FUNDS).view());
                replies.add(Reply.CHANGED);
            } else {
                replies.add(Decider.decide(views.get(command.runId()), command, changes, locked.now(), ids, capacity,
                        FUNDS));
            }
        }
        store.commit(connection, changes, List.of(), CreditSlots.only(0), locked.now());
        Map<UUID, RunView> loaded = store.load(connection, runs);
        connection.commit();
        for (UUID run : runs) {
            assertThat(ViewText.of(loaded.get(run), now)).as("loaded view of %s after %s", run, commands)
                    .isEqualTo(ViewText.of(views.get(run), now));
        }
        return replies;
    }

    /** For so long no engine was alive: no view is left. */
    void outage(Duration duration) throws SQLException {
        RunFixtures.execute(connection, "insert into engine_outages (from_at, to_at) values ('" + now + "', '"
                + now.plus(duration) + "')");
        connection.commit();
        tick(duration);
        views.clear();
    }

    RunView load(UUID run) throws SQLException {
        return store.load(connection, List.of(run)).get(run);
    }

    /** Forgets what is in memory; the next command works on what the database holds. */
    void forget(UUID run) {
        views.remove(run);
    }

    public List<String> query(String sql, Object... parameters) throws SQLException {
        List<String> found = RunFixtures.query(connection, sql, parameters);
        connection.commit();
        return found;
    }

    @Override
    public void close() throws SQLException {
        connection.close();
        database.close();
    }
}
