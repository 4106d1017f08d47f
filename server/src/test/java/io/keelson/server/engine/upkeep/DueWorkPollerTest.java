package io.keelson.server.engine.upkeep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.Nodes;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.dispatch.WorkerClaim;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.engine.tool.SlotKind;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class DueWorkPollerTest {
    private static final Duration AT_ONCE = Duration.ofMillis(100);
    private static final Duration LATER = Duration.ofMillis(900);

    @TempDir
    Path folder;

    private final AtomicLong now = new AtomicLong();

    /** Both nodes see a lease that has ended, and the other one puts the work in the queue after this one has looked. */
    @Test
    void expiredLeaseTriggersAnImmediateSecondPoll() throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            heldByAWorker(nodes);
            List<Command> asked = new ArrayList<>();
            try (DueWorkPoller dueWorkPoller = lookout(nodes, command -> {
                asked.add(command);
                return CompletableFuture.completedFuture(Reply.UNCHANGED);
            }, List.of())) {
                assertThat(dueWorkPoller.look(Map.of())).as("nothing has ended").isGreaterThanOrEqualTo(LATER);

                execute(nodes, "update work_queue set lease_expires_at = clock_timestamp() - interval '1 s'");
                assertThat(dueWorkPoller.look(Map.of())).isLessThanOrEqualTo(AT_ONCE);
                assertThat(asked).hasSize(1).first().isInstanceOf(Command.LeaseExpired.class);

                execute(nodes, "update work_queue set holder = null, lease_ms = null, lease_expires_at = null,"
                        + " deadline_at = null");
                assertThat(dueWorkPoller.look(Map.of())).as("it is in the queue").isGreaterThanOrEqualTo(LATER);
            }
        }
    }

    /** As on a full disk, which does not keep the database from answering reads. */
    @Test
    void workThatCannotBeDoneIsNoOutageOfTheDatabase() throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            heldByAWorker(nodes);
            execute(nodes, "update work_queue set lease_expires_at = clock_timestamp() - interval '1 s'");
            List<Boolean> answers = new ArrayList<>();
            SqlFailure full = new SqlFailure(new SQLException("could not extend file", "53100"));
            try (DueWorkPoller dueWorkPoller = lookout(nodes, _ -> CompletableFuture.failedFuture(full),
                    List.of(new Observer() {
                        @Override
                        public void database(boolean answered) {
                            answers.add(answered);
                        }
                    }))) {
                assertThatThrownBy(() -> dueWorkPoller.look(Map.of())).hasCause(full);
                assertThat(answers).containsExactly(true);
            }
        }
    }

    @Test
    void afterAnOutageHoldersHaveTimeToReport() throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            heldByAWorker(nodes);
            execute(nodes, "update work_queue set lease_expires_at = clock_timestamp() - interval '1 s'");
            List<Command> asked = new ArrayList<>();
            AtomicInteger returns = new AtomicInteger();
            ListAppender<ILoggingEvent> logged = new ListAppender<>();
            logged.start();
            Logger log = (Logger) LoggerFactory.getLogger(DueWorkPoller.class);
            log.setLevel(Level.INFO);
            log.addAppender(logged);
            try (DueWorkPoller dueWorkPoller = lookout(nodes, command -> {
                asked.add(command);
                return CompletableFuture.completedFuture(Reply.UNCHANGED);
            }, List.of())) {
                dueWorkPoller.onReturn(returns::incrementAndGet);
                outage(dueWorkPoller, Duration.ofSeconds(2));
                logged.list.clear();
                dueWorkPoller.look(Map.of());
                assertThat(logged.list).extracting(ILoggingEvent::getFormattedMessage).singleElement().asString()
                        .startsWith("connected again to the database, 2000 ms after its last answer: 127.0.0.1");
                assertThat(asked).as("a lost connection is no outage").hasSize(1);
                assertThat(returns).hasValue(0);

                outage(dueWorkPoller, Duration.ofSeconds(10));
                dueWorkPoller.look(Map.of());
                assertThat(asked).as("holders report").hasSize(1);
                assertThat(returns).hasValue(1);
                now.addAndGet(Duration.ofSeconds(13).toNanos());
                dueWorkPoller.look(Map.of());
                assertThat(asked).hasSize(2);
            }
        }
    }

    /** Fails a poll, and lets time pass. */
    private void outage(DueWorkPoller dueWorkPoller, Duration time) {
        assertThat(dueWorkPoller.<Boolean>query(c -> {
            c.abort(Runnable::run);
            return c.isClosed();
        })).isTrue();
        assertThatThrownBy(() -> dueWorkPoller.look(Map.of())).isInstanceOf(SqlFailure.class);
        now.addAndGet(time.toNanos());
    }

    private static void heldByAWorker(Nodes nodes) throws Exception {
        try (Engine engine = nodes.node()) {
            nodes.submit(engine, """
                    name: held
                    plan: {tasks: [{id: a, steps: [{tool: far.away}]}]}
                    """, "far.away");
            var claim = new WorkerClaim(Nodes.WORKSPACE, "worker", List.of("far.away"), 1, Duration.ofSeconds(20),
                    Duration.ofSeconds(30), "test");
            assertThat(engine.remoteWork().claim(claim)).hasSize(1);
        }
    }

    private DueWorkPoller lookout(Nodes nodes, Function<Command, CompletableFuture<Reply>> commands,
            List<Observer> observers) {
        RunStore runs = Nodes.store().runs();
        return new DueWorkPoller(nodes.database, runs, new Reconciler(nodes.database, runs, commands, List.of()),
                new WorkAvailability(tool -> false, tool -> SlotKind.COMPUTING),
                new ConcurrencyKeyScheduler(nodes.database, runs, commands), observers,
                new DatabaseHistory(nodes.database, "node:test", UUID::randomUUID), now::get);
    }

    private static void execute(Nodes nodes, String sql) {
        nodes.database.runInTransaction(c -> {
            try (var statement = c.createStatement()) {
                assertThat(statement.executeUpdate(sql)).isEqualTo(1);
            }
        });
    }
}
