package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.Invariants;
import io.keelson.server.TestCredits;
import io.keelson.server.engine.Nodes;
import io.keelson.server.engine.store.CreditSlots;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commits at the same time change different slots of a balance; all of them where one is too low. */
@Timeout(120)
class CreditSlotsTest {
    private static final int SLOTS = 4;
    private static final String MISSION = """
            name: short
            plan:
              total_estimated_cost: %s
              tasks:
                - {id: a, title: A, steps: [{name: one, tool: remote.work}]}
            """;
    private static final String WAITING = """
            select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%credit_slots%'""";

    private static final CommitListener BYSTANDER = new CommitListener() {
        @Override
        public LocalCapacity offer() {
            return LocalCapacity.none();
        }

        @Override
        public void settled(LocalCapacity capacity) {}

        @Override
        public void committed(ChangeSet changes, Function<UUID, @Nullable RunView> views, Instant now) {}
    };

    private final List<Observer.BatchPath> ways = Collections.synchronizedList(new ArrayList<>());
    private Nodes nodes;
    private BatchCommit batchCommit;

    @BeforeEach
    void open(@TempDir Path folder) throws Exception {
        nodes = Nodes.poor(folder);
        Instant now = Nodes.now();
        DatabaseTime time = new DatabaseTime(() -> 0);
        time.set(now);
        batchCommit =
                new BatchCommit(Nodes.storeAt(now).runs(), new ViewCache(1_000_000), UuidCreator::getTimeOrderedEpoch,
                        BYSTANDER, time, () -> Prices.NONE, List.of(new Observer() {
                            @Override
                            public void batchEnded(BatchPath path, int commands, long nanos) {
                                ways.add(path);
                            }
                        }));
    }

    @AfterEach
    void close() throws Exception {
        nodes.close();
    }

    @Test
    void connectionsHaveSlotsOfTheirOwn() throws Exception {
        List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            connections.add(nodes.database.committerConnection());
        }
        List<Integer> slots = new ArrayList<>();
        for (Connection each : connections) {
            slots.add(slot(batchCommit.ownSlot(each)));
        }
        assertThat(slots).containsExactly(0, 1, 2, 3);
        try (Connection fifth = nodes.database.committerConnection()) {
            assertThat(slot(batchCommit.ownSlot(fifth))).as("shared").isBetween(0, 3);
        }
        connections.get(2).close();
        Awaitility.await().untilAsserted(() -> {
            try (Connection next = nodes.database.committerConnection()) {
                assertThat(slot(batchCommit.ownSlot(next))).isEqualTo(2);
            }
        });
        for (Connection each : connections) {
            each.close();
        }
    }

    @Test
    void aCommitDoesNotWaitForAnotherSlot() throws Exception {
        TestCredits.grant(nodes.database, Nodes.WORKSPACE, "40");
        try (Connection other = holding(3); Connection own = nodes.database.committerConnection()) {
            assertThat(commit(own, 0, create("1"))).containsExactly(Reply.CHANGED);
            assertThat(slots()).containsExactly("9.000000", "10.000000", "10.000000", "10.000000");
            other.rollback();
        }
        assertThat(ways).containsExactly(Observer.BatchPath.AT_HAND);
    }

    /** Four credits, one in each slot. */
    @ParameterizedTest
    @CsvSource({"1, AT_HAND, true", "1.000001, INSUFFICIENT_CREDITS, true", "4, INSUFFICIENT_CREDITS, true",
            "4.000001, INSUFFICIENT_CREDITS, false"})
    void theSumDecidesNotTheSlot(String cost, Observer.BatchPath path, boolean accepted) throws Exception {
        TestCredits.grant(nodes.database, Nodes.WORKSPACE, "4");
        try (Connection own = nodes.database.committerConnection()) {
            Reply reply = commit(own, 2, create(cost)).getFirst();
            assertThat(reply instanceof Reply.Rejected).isEqualTo(!accepted);
        }
        assertThat(ways).containsExactly(path);
        BigDecimal left = new BigDecimal("4").subtract(accepted ? new BigDecimal(cost) : BigDecimal.ZERO);
        assertThat(slots().stream().map(BigDecimal::new).reduce(BigDecimal.ZERO, BigDecimal::add))
                .isEqualByComparingTo(left);
        Invariants.hold(nodes.database);
    }

    /** Another transaction has taken a credit from the last slot, and it is open while a commit needs all four. */
    @ParameterizedTest
    @CsvSource({"true, 3", "false, 4"})
    void aCommitThatNeedsAllSlotsWaitsForTheirChanges(boolean taken, int accepted) throws Exception {
        TestCredits.grant(nodes.database, Nodes.WORKSPACE, "4");
        try (Connection other = nodes.database.committerConnection();
                Connection own = nodes.database.committerConnection()) {
            Command first = create("1");
            execute(other, "update credit_slots set available = available - 1, spent = spent + 1 where slot = 3");
            FutureTask<List<Reply>> replies = new FutureTask<>(
                    () -> commit(own, 0, first, create("1"), create("1"), create("1")));
            Thread.ofPlatform().start(replies);
            Awaitility.await().until(() -> nodes.database.withConnection(c -> query(c, WAITING)).equals(List.of("1")));
            if (taken) {
                other.commit();
            } else {
                other.rollback();
            }
            assertThat(replies.get(60, TimeUnit.SECONDS).stream().filter(Reply.CHANGED::equals)).hasSize(accepted);
        }
        assertThat(slots()).containsOnly("0.000000");
    }

    /** Another commit holds a slot of the first workspace and needs one of the second, whose month has ended. */
    @Test
    void aCommitThatBeginsAMonthLocksInTheOrderOfWorkspaces() throws Exception {
        UUID second = new UUID(-1, -1);
        nodes.database.runInTransaction(
                c -> execute(c, "insert into workspaces (id, name) values ('" + second + "', 'second')"));
        List.of(Nodes.WORKSPACE, second).forEach(each -> TestCredits.grant(nodes.database, each, "4"));
        nodes.database.runInTransaction(c -> {
            execute(c, "insert into workspace_limits values ('" + second + "', 'usd_per_month', 3)");
            execute(c, "select keelson_withhold('" + second + "', clock_timestamp() - interval '40 days')");
        });
        try (Connection other = nodes.database.committerConnection();
                Connection own = nodes.database.committerConnection()) {
            execute(other, "update credit_slots set spent = spent where slot = 3 and workspace_id = '" + Nodes.WORKSPACE
                    + "'");
            FutureTask<List<Reply>> replies = new FutureTask<>(() -> commit(own, 0, create("2"), new Command.Create(
                    nodes.run(MISSION.formatted("2"), second, "remote.work"), true, Nodes.WHO)));
            Thread.ofPlatform().start(replies);
            Awaitility.await().until(() -> nodes.database.withConnection(c -> query(c, WAITING)).equals(List.of("1")));
            execute(other, "update credit_slots set spent = spent where slot = 3 and workspace_id = '" + second + "'");
            other.commit();
            assertThat(replies.get(60, TimeUnit.SECONDS)).containsExactly(Reply.CHANGED, Reply.CHANGED);
        }
        assertThat(nodes.database.<List<String>>withConnection(
                c -> query(c, "select month = keelson_month(clock_timestamp()) from credit_months")))
                .containsExactly("t");
    }

    /** More connections than slots, batches over two poor workspaces, grants meanwhile: what went in is there. */
    @Test
    void atOnceNothingIsLostOrOverdrawn() throws Exception {
        UUID second = UUID.randomUUID();
        nodes.database.runInTransaction(
                c -> execute(c, "insert into workspaces (id, name) values ('" + second + "', 'second')"));
        List<UUID> workspaces = List.of(Nodes.WORKSPACE, second);
        workspaces.forEach(workspace -> TestCredits.grant(nodes.database, workspace, "5"));
        Set<Boolean> answers = ConcurrentHashMap.newKeySet();
        List<Callable<Integer>> threads = new ArrayList<>();
        for (int thread = 0; thread < 6; thread++) {
            Random random = new Random(thread);
            threads.add(() -> commits(workspaces, random, answers));
        }
        threads.add(() -> {
            for (int i = 0; i < 20; i++) {
                TestCredits.grant(nodes.database, workspaces.get(i % 2), "0.7");
            }
            return 0;
        });
        int open = 0;
        try (ExecutorService pool = Executors.newFixedThreadPool(threads.size())) {
            for (Future<Integer> each : pool.invokeAll(threads)) {
                open += each.get();
            }
        }
        assertThat(answers).as("some accepted, some refused").containsExactlyInAnyOrder(true, false);
        assertThat(ways).contains(Observer.BatchPath.AT_HAND, Observer.BatchPath.INSUFFICIENT_CREDITS);
        assertThat(nodes.database.<List<String>>withConnection(c -> query(c, """
                select sum(reserved)::int || ' reserved of ' || sum(available + reserved)::int || ', ' || sum(spent)::int
                  from credit_balances"""))).containsExactly(open + " reserved of 24, 0");
        Invariants.hold(nodes.database);
    }

    /** Starts runs of both workspaces in batches and cancels some; returns the number of those left. */
    private int commits(List<UUID> workspaces, Random random, Set<Boolean> answers) throws SQLException {
        List<UUID> open = new ArrayList<>();
        try (Connection own = nodes.database.committerConnection()) {
            CreditSlots slot = batchCommit.ownSlot(own);
            for (int i = 0; i < 40; i++) {
                List<PendingCommand> batch = new ArrayList<>();
                for (int n = random.nextInt(4); n >= 0; n--) {
                    NewRun run = nodes.run(MISSION.formatted("1"), workspaces.get(random.nextInt(2)), "remote.work");
                    batch.add(new PendingCommand(new Command.Create(run, true, Nodes.WHO)));
                }
                while (!open.isEmpty() && random.nextInt(5) > 0) {
                    batch.add(new PendingCommand(new Command.Cancel(open.removeLast(), null, Nodes.WHO)));
                }
                batchCommit.run(own, slot, batch);
                for (PendingCommand each : batch) {
                    if (each.command instanceof Command.Create create) {
                        answers.add(Reply.CHANGED.equals(each.reply));
                        if (Reply.CHANGED.equals(each.reply)) {
                            open.add(create.runId());
                        }
                    } else {
                        assertThat(each.reply).isEqualTo(Reply.CHANGED);
                    }
                }
            }
        }
        return open.size();
    }

    private Command create(String cost) {
        return new Command.Create(nodes.run(MISSION.formatted(cost), "remote.work"), true, Nodes.WHO);
    }

    private List<Reply> commit(Connection own, int slot, Command... commands) throws SQLException {
        List<PendingCommand> batch = Stream.of(commands).map(PendingCommand::new).toList();
        batchCommit.run(own, CreditSlots.only(slot), batch);
        return batch.stream().map(each -> each.reply).toList();
    }

    private Connection holding(int slot) throws SQLException {
        Connection other = nodes.database.committerConnection();
        execute(other, "select from credit_slots where slot = " + slot + " for update");
        return other;
    }

    /** The available credits of each slot of the only workspace. */
    private List<String> slots() {
        return nodes.database.withConnection(c -> query(c, "select available from credit_slots order by slot"));
    }

    private static int slot(CreditSlots own) {
        return own.divide(new ChangeSet.Balance(Nodes.WORKSPACE, Amounts.ONE, Amounts.ZERO, Amounts.ZERO)).getFirst()
                .slot();
    }

    private static void execute(Connection c, String sql) throws SQLException {
        try (Statement statement = c.createStatement()) {
            statement.execute(sql);
        }
    }

    private static List<String> query(Connection c, String sql) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                found.add(row.getString(1));
            }
        }
        return found;
    }
}
