package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.TimerKind;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.RowSetStatement.Moment;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a message with a COMMIT at its end leaves behind when a statement in it touches other rows than it must. */
class CommitMessageTest {
    private static final UUID RUN = new UUID(1, 1);
    private static final Actor TESTER = Actor.human("tester");

    /**
     * @param by the concurrent change since the decision
     * @param part the statement that must detect it
     */
    private record Overtaken(String by, Function<RunView, Part<?>> part) {
        @Override
        public String toString() {
            return by;
        }
    }

    static Stream<Overtaken> overtaken() {
        Function<RunView, Part<?>> head = view -> RunsTable.UPDATE_HEAD.of(List.of(view.run()));
        Function<RunView, Part<?>> moved = view -> RunsTable.MOVE_HEAD.of(List.of(view.run()));
        String noRun = "delete from orchestration_runs";
        return Stream.of(new Overtaken("update run_heads set version_id = version_id + 1", head),
                new Overtaken("delete from run_heads", head),
                new Overtaken("update run_heads set version_id = version_id + 1", moved),
                new Overtaken("delete from run_heads", moved),
                new Overtaken(noRun, view -> RunsTable.UPDATE.of(List.of(view.run()))),
                new Overtaken(noRun,
                        view -> RunsTable.UPDATE_PLAN.of(List.of(new ChangeSet.NewPlan(view.run(), 2, "{}")))),
                new Overtaken("delete from orchestration_tasks", view -> TasksTable.UPDATE.of(
                        view.tasks().stream().map(task -> new TasksTable.Changed(task, null, null)).toList())),
                new Overtaken("delete from task_steps", view -> StepsTable.UPDATE.of(view.tasks().stream()
                        .flatMap(task -> task.steps().stream())
                        .map(each -> new StepsTable.Changed(each, null, null, null, null)).toList())),
                new Overtaken("delete from run_agents", view -> AgentsTable.UPDATE.of(view.agents())));
    }

    private final World world = new World();

    @AfterEach
    void close() throws SQLException {
        world.close();
    }

    @ParameterizedTest
    @MethodSource("overtaken")
    void currentViewsAreCommitted(Overtaken overtaken) throws SQLException {
        send(overtaken.part.apply(paused()));
        assertThat(committedTimers()).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("overtaken")
    void staleCommitWritesNothing(Overtaken overtaken) throws SQLException {
        RunView view = paused();
        world.database.runInTransaction(c -> {
            RunFixtures.execute(c, "set local session_replication_role = replica");
            RunFixtures.execute(c, overtaken.by);
        });
        assertThatThrownBy(() -> send(overtaken.part.apply(view)))
                .isInstanceOfSatisfying(SQLException.class, refusal -> assertThat(refusal.getSQLState())
                        .isEqualTo(RowSetStatement.OVERTAKEN));
        assertThat(committedTimers()).isZero();
        world.connection().rollback();
        assertThat(committedTimers()).isZero();
    }

    /** A run that has been paused in memory only. */
    private RunView paused() throws SQLException {
        world.send(new Command.Create(run(RUN, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"))),
                true, TESTER));
        RunView view = world.load(RUN);
        world.connection().rollback();
        Decider.decide(view, new Command.Pause(RUN, null, TESTER), new ChangeSet(), world.now, world.ids,
                LocalCapacity.none(), Funds.UNLIMITED);
        return view;
    }

    /** Between two timers, one before and one after. */
    private void send(Part<?> part) throws SQLException {
        new CommitMessage(List.of(List.of(timer(1)), List.of(part), List.of(timer(2))), true).send(world.connection(),
                new Moment(world.now, world.now));
    }

    private Part<?> timer(int number) {
        return TimersTable.ARM.of(List.of(new Timer(new TimerKey(TimerKind.STEP_WAIT, new UUID(9, number)), RUN,
                world.now)));
    }

    /** Those of the test, as another connection sees them. */
    private int committedTimers() {
        return world.database.withConnection(c -> RunFixtures.query(c, "select 1 from timers where kind = 'step_wait'"))
                .size();
    }
}
