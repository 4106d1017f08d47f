package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.ViewDiff;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.Event;
import io.keelson.core.sim.BatchListener;
import io.keelson.core.sim.Simulation;
import io.keelson.core.sim.Size;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.commit.BatchCommit;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.commit.CommitListener;
import io.keelson.server.engine.commit.DatabaseTime;
import io.keelson.server.engine.commit.Executed;
import io.keelson.server.engine.commit.PendingCommand;
import io.keelson.server.engine.commit.ViewCache;
import io.keelson.server.engine.store.CreditSlots;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.tenant.money.Money;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Repeats on a real PostgreSQL what simulations do to their store: the same batches at the same times with the same ids, by
 * the server's commit code. Both are compared at intervals and at the end.
 */
final class Replica implements BatchListener, AutoCloseable {
    /** Every so many batches the runs that one has concerned are looked at. */
    private static final int LOOK_EVERY = 25;

    final Set<Class<?>> commands = new HashSet<>();
    int batches;
    int looks;
    /** Reports in the first commits of runs. */
    int reports;

    private final Database database = TestDatabase.create();
    private final Connection connection = database.committerConnection();
    private final Tables tables = new Tables(connection);
    private final Money money = new Money(database, () -> this.now);
    private final RunStore store = new RunStore(() -> this.now, json -> this.story.plan(json),
            Duration.ofDays(30));
    private final Map<String, Node> nodes = new HashMap<>();
    private final Map<UUID, List<Event>> events = new HashMap<>();
    private Simulation story;
    private Instant now;

    /** A node's life: its memory ends with it. */
    private final class Node implements CommitListener {
        private final ViewCache views = new ViewCache(Integer.MAX_VALUE);
        private Batch batch;
        private Iterator<UUID> ids;

        private List<PendingCommand> commit(Batch committed) throws SQLException {
            batch = committed;
            committed.loaded().forEach(views::drop);
            DatabaseTime time = new DatabaseTime(() -> 0);
            if (!committed.locked()) {
                time.set(committed.now());
            }
            List<PendingCommand> pending = new ArrayList<>();
            for (int i = 0; i < committed.commands().size(); i++) {
                BatchListener.FirstSteps executed = committed.executed().get(i);
                pending.add(new PendingCommand(committed.commands().get(i), null, executed == null ? null
                        : new Executed(executed.ids(), executed.tool(), executed.report(), null)));
            }
            new BatchCommit(store, views, this::next, this, time, () -> story.prices(), List.of()).run(connection,
                    CreditSlots.only(0), pending);
            assertThat(ids).as("ids left over").isExhausted();
            return pending;
        }

        /** A try that cannot be paid may have got further than what was decided in the end; it leaves nothing behind. */
        private UUID next() {
            return ids.hasNext() ? ids.next() : UUID.randomUUID();
        }

        /** A repeated decision gets the same ids and capacity. */
        @Override
        public LocalCapacity offer() {
            ids = batch.ids().iterator();
            return batch.offer();
        }

        @Override
        public void settled(LocalCapacity capacity) {}

        @Override
        public void committed(ChangeSet changes, Function<UUID, @Nullable RunView> views, Instant at) {
            assertThat(at).isEqualTo(batch.now());
        }
    }

    /** The simulation has no board; what must be true of it is asked of all stories together. */
    void boardHolds() {
        Invariants.hold(database, "I10");
    }

    /** Plays one simulation to its end. */
    void follow(long seed) throws SQLException {
        nodes.clear();
        events.clear();
        tables.forgetOutages();
        story = new Simulation(seed, Size.SHORT, seed, this);
        story.run();
        for (UUID run : story.runs()) {
            compare(run);
            assertThat(tables.events(run)).as("events of %s", run).isEqualTo(Tables.written(events.get(run)));
        }
    }

    @Override
    public void committed(Batch batch) {
        try {
            now = batch.now();
            List<PendingCommand> done = nodes.computeIfAbsent(batch.node(), name -> new Node()).commit(batch);
            for (int i = 0; i < done.size(); i++) {
                commands.add(done.get(i).command.getClass());
                assertThat(done.get(i).reply).as("reply to %s", done.get(i).command).isEqualTo(batch.replies().get(i));
                assertThat(done.get(i).reportReply).as("reply to the report with %s", done.get(i).command)
                        .isEqualTo(batch.reportReplies().get(i));
                if (done.get(i).reportReply != null) {
                    reports++;
                }
                assertThat(done.get(i).failure instanceof Commands.RunNotFound).isEqualTo(done.get(i).reply == null);
            }
            batch.events().forEach(event -> events.computeIfAbsent(event.runId(), id -> new ArrayList<>()).add(event));
            if (++batches % LOOK_EVERY == 0) {
                Set<UUID> runs = new HashSet<>(story.runs());
                runs.retainAll(batch.commands().stream().map(Command::runId).toList());
                for (UUID run : runs) {
                    compare(run);
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException(batch.toString(), e);
        }
    }

    @Override
    public void outage(EngineOutage outage) {
        try {
            tables.insert(outage);
        } catch (SQLException e) {
            throw new IllegalStateException(outage.toString(), e);
        }
    }

    @Override
    public void extended(String holder, Lane lane, Instant at) {
        try {
            now = at;
            assertThat(store.extendLeases(connection, holder, List.of(lane))).as("lost").isEmpty();
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(lane.toString(), e);
        }
    }

    @Override
    public void granted(UUID workspace, BigDecimal amount) {
        try {
            now = now == null ? Instant.EPOCH : now;
            tables.ensureWorkspace(workspace);
            money.ledger().grant(workspace, amount, null, amount.toPlainString(), Actor.SYSTEM);
        } catch (SQLException e) {
            throw new IllegalStateException(workspace.toString(), e);
        }
    }

    private void compare(UUID run) throws SQLException {
        looks++;
        for (Map.Entry<String, List<Map<String, Object>>> table : story.rows(run).entrySet()) {
            assertThat(tables.read(table.getKey(), run, table.getValue())).as("%s of %s", table.getKey(), run)
                    .isEqualTo(Tables.comparable(table.getValue()));
        }
        RunView loaded = store.load(connection, List.of(run)).get(run);
        connection.commit();
        assertThat(ViewDiff.between(loaded, story.view(run))).as("the loaded view of %s", run).isNull();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
        database.close();
    }
}
