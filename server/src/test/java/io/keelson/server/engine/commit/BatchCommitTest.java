package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.money.Prices;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.engine.Nodes;
import io.keelson.server.engine.store.CreditSlots;
import io.keelson.server.engine.store.KeyUse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a commit asks of the database does not depend on how many commands are in it. */
class BatchCommitTest {
    /** The clock, where it was not read before; all that can be changed, steps by two statements; BEGIN and COMMIT. */
    private static final Cost MAX_COST_AT_HAND = new Cost(2, 34);
    /** The same, and all that a view is loaded from. */
    private static final Cost MAX_COST_LOADED = new Cost(13, 45);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final String MISSION = """
            name: short
            plan:
              tasks:
                - id: a
                  title: A
                  steps: [{name: one, tool: remote.work}, {name: two, tool: remote.work}]
                - id: b
                  title: B
                  depends_on: [a]
                  steps: [{name: one, tool: remote.work}]
            """;

    /**
     * What the database was asked.
     *
     * @param messages how often the committer waited for an answer
     */
    private record Cost(int messages, int statements) {}

    /** A node that executes nothing and notes where the lanes are that wait. */
    private static final class Bystander implements CommitListener {
        private final Map<UUID, ChangeSet.QueueItem> waiting = new LinkedHashMap<>();

        @Override
        public LocalCapacity offer() {
            return LocalCapacity.none();
        }

        @Override
        public void settled(LocalCapacity capacity) {}

        @Override
        public void committed(ChangeSet changes, Function<UUID, @Nullable RunView> views, Instant now) {
            changes.queue().values().forEach(item -> item.filter(each -> each.holder() == null)
                    .ifPresent(each -> waiting.put(each.runId(), each)));
        }
    }

    private final Bystander bystander = new Bystander();
    private final Store store = Nodes.storeAt(Nodes.now());

    @ParameterizedTest
    @CsvSource({"1, true", "1, false", "10, true", "10, false", "200, true", "200, false"})
    void theNumberOfStatementsIsBounded(int commands, boolean viewsAtHand, @TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder); CountingProxy proxy = new CountingProxy(nodes.database.url());
                Database database = new Database(proxy.url(), DatabaseOptions.DEFAULTS.withPoolSize(1));
                Connection connection = database.committerConnection()) {
            // The pool opens its connection on another thread, which would be counted, too.
            database.runInTransaction(_ -> {
            });
            List<List<PendingCommand>> batches = new ArrayList<>();
            List<Cost> costs = new ArrayList<>();
            // The first time a connection also learns the row types.
            for (int turn = 0; turn < 2; turn++) {
                costs.clear();
                bystander.waiting.clear();
                BatchCommit batchCommit = flush();
                for (Step step : List.<Step>of(BatchCommitTest::creates, this::claims, BatchCommitTest::mixed)) {
                    List<PendingCommand> batch = step.of(nodes, commands, batches).stream()
                            .map(command -> new PendingCommand(command, key(command))).toList();
                    int messages = proxy.messages();
                    int statements = proxy.executed().size();
                    (viewsAtHand ? batchCommit : flush()).run(connection, CreditSlots.only(0), batch);
                    costs.add(new Cost(proxy.messages() - messages, proxy.executed().size() - statements));
                    assertThat(batch).hasSize(commands).allMatch(pending -> pending.failure == null);
                    batches.add(batch);
                }
            }
            Cost most = viewsAtHand ? MAX_COST_AT_HAND : MAX_COST_LOADED;
            assertThat(costs).allMatch(cost -> cost.messages > 0 && cost.messages <= most.messages
                    && cost.statements <= most.statements);
            assertThat(costs.subList(1, costs.size())).allMatch(cost -> cost.messages == 1 == viewsAtHand);
        }
    }

    @Test
    void anOldTimeIsReadWithoutALock(@TempDir Path folder) throws Exception {
        AtomicLong nanos = new AtomicLong();
        try (Nodes nodes = new Nodes(folder); CountingProxy proxy = new CountingProxy(nodes.database.url());
                Database database = new Database(proxy.url(), DatabaseOptions.DEFAULTS.withPoolSize(1));
                Connection connection = database.committerConnection()) {
            // The pool opens its connection on another thread, which would be counted, too.
            database.runInTransaction(_ -> {
            });
            List<Observer.BatchPath> ways = new ArrayList<>();
            BatchCommit batchCommit = new BatchCommit(store.runs(), new ViewCache(1_000),
                    UuidCreator::getTimeOrderedEpoch, bystander, new DatabaseTime(nanos::get), () -> Prices.NONE,
                    List.of(new Observer() {
                        @Override
                        public void batchEnded(BatchPath path, int commands, long took) {
                            ways.add(path);
                        }
                    }));
            Command create = create(nodes);
            UUID run = create.runId();
            // The first time a connection also learns the row types.
            for (Command each : List.of(create, new Command.Pause(run, null, Nodes.WHO),
                    new Command.Resume(run, Nodes.WHO))) {
                batchCommit.run(connection, CreditSlots.only(0), List.of(new PendingCommand(each)));
            }
            ways.clear();

            nanos.addAndGet(Duration.ofSeconds(2).toNanos());
            int messages = proxy.messages();
            batchCommit.run(connection, CreditSlots.only(0),
                    List.of(new PendingCommand(new Command.Pause(run, null, Nodes.WHO))));
            assertThat(proxy.messages() - messages).as("the clock, then the commit").isEqualTo(2);

            nanos.addAndGet(Duration.ofSeconds(2).toNanos());
            nodes.database.runInTransaction(c -> {
                try (Statement statement = c.createStatement()) {
                    statement.execute("insert into engine_outages (from_at, to_at)"
                            + " values (now() - interval '1 minute', now())");
                }
            });
            batchCommit.run(connection, CreditSlots.only(0),
                    List.of(new PendingCommand(new Command.Resume(run, Nodes.WHO))));
            assertThat(ways).as("a view has no outage after its load").containsExactly(Observer.BatchPath.AT_HAND,
                    Observer.BatchPath.STALE);
            assertThat(nodes.state(run)).isEqualTo("running");
        }
    }

    @Test
    void theViewTellsWhichCommandsAreOnTasks(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder); Connection connection = nodes.database.committerConnection()) {
            ViewCache views = new ViewCache(1_000);
            BatchCommit batchCommit = flush(views);
            Command create = create(nodes);
            assertThat(views.kind(create)).isEqualTo(BatchPolicy.Kind.BEGIN);
            commit(batchCommit, connection, create);

            Command claim = claims(nodes, 1, List.of()).getFirst();
            assertThat(views.kind(claim)).as("a task's first claim").isEqualTo(BatchPolicy.Kind.BEGIN);
            UUID step = stepOf(commit(batchCommit, connection, claim));
            Command first = new Command.Complete(create.runId(), step, 1, Result.of("1"), Nodes.WHO);
            assertThat(views.kind(first)).as("a step that is not the last").isEqualTo(BatchPolicy.Kind.MIDDLE);
            commit(batchCommit, connection, first);

            assertThat(views.kind(claim)).as("the claim of the task's second step").isEqualTo(BatchPolicy.Kind.MIDDLE);
            Command last = new Command.Complete(create.runId(), stepOf(commit(batchCommit, connection, claim)), 1,
                    Result.of("2"), Nodes.WHO);
            assertThat(views.kind(last)).as("the last step").isEqualTo(BatchPolicy.Kind.END);
            views.drop(create.runId());
            assertThat(views.kind(last)).as("without a view").isEqualTo(BatchPolicy.Kind.MIDDLE);
        }
    }

    private static Reply commit(BatchCommit batchCommit, Connection connection, Command command) throws Exception {
        PendingCommand pending = new PendingCommand(command);
        batchCommit.run(connection, CreditSlots.only(0), List.of(pending));
        return Objects.requireNonNull(pending.reply);
    }

    private static UUID stepOf(Reply reply) {
        return ((Reply.Claimed) reply).assignment().stepId();
    }

    private static KeyUse key(Command command) {
        return new KeyUse(new KeyUse.Id(Nodes.WORKSPACE, "POST /x", UUID.randomUUID().toString()), "h",
                command.runId());
    }

    /** The commands of the next batch, by what came of those before. */
    private interface Step {
        List<Command> of(Nodes nodes, int count, List<List<PendingCommand>> before);
    }

    private BatchCommit flush() {
        return flush(new ViewCache(1_000_000));
    }

    private BatchCommit flush(ViewCache views) {
        // A fixed clock: its time is never too old, even on a slow machine.
        return new BatchCommit(store.runs(), views, UuidCreator::getTimeOrderedEpoch, bystander,
                new DatabaseTime(() -> 0), () -> Prices.NONE, List.of());
    }

    private static List<Command> creates(Nodes nodes, int count, List<List<PendingCommand>> before) {
        return Stream.generate(() -> create(nodes)).limit(count).toList();
    }

    private static Command create(Nodes nodes) {
        return new Command.Create(nodes.run(MISSION, "remote.work"), true, Nodes.WHO);
    }

    private List<Command> claims(Nodes nodes, int count, List<List<PendingCommand>> before) {
        return bystander.waiting.values().stream().<Command>map(item -> new Command.Claim(item.runId(),
                item.key().taskId(), item.key().lane(), "worker", LEASE, Nodes.WHO)).toList();
    }

    /** For each run that was claimed: its step completes, or fails, or the run is cancelled, or another one comes. */
    private static List<Command> mixed(Nodes nodes, int count, List<List<PendingCommand>> before) {
        List<Command> commands = new ArrayList<>();
        for (PendingCommand pending : before.getLast()) {
            UUID run = pending.command.runId();
            UUID step = stepOf(Objects.requireNonNull(pending.reply));
            commands.add(switch (commands.size() % 5) {
                case 0, 1 -> new Command.Complete(run, step, 1, Result.of("{\"n\":1}"), Nodes.WHO);
                case 2 -> new Command.Fail(run, step, 1, new StepError("NO", ErrorClass.PERMANENT, "no"),
                        Result.of("null"), Nodes.WHO);
                case 3 -> new Command.Cancel(run, null, Nodes.WHO);
                default -> create(nodes);
            });
        }
        return commands;
    }
}
