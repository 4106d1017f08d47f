package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.decide.ChangeSet.Owner;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.RowSetStatement.Moment;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The statements for plain rows of steps write the same as those with all columns. */
class PlainStepsTest {
    private static final UUID RUN = new UUID(5, 5);
    private static final Instant THEN = Instant.parse("2026-01-01T00:00:01Z");

    private static final String GONE = "delete from task_steps where name = 'one'";

    private static World world;
    private static RunView view;
    private static StepRow one;

    /** A step's columns; at first those of an untouched step. */
    private static final class Values {
        private StepState state = StepState.PENDING;
        private int attempt;
        private int failures;
        private int deliveries;
        private int leaseEpoch;
        private int resultEpoch;
        private long tokens;
        private BigDecimal cost = BigDecimal.ZERO;
        private @Nullable Instant nextRunAt;
        private @Nullable Instant startedAt;
        private @Nullable Instant completedAt;
        private @Nullable String errorCode;
        private @Nullable String errorMessage;
        private @Nullable String errorClass;
        private int grantedRetries;
        private boolean failureIgnored;
        private @Nullable String output;
        private @Nullable String resolvedInput;
        private @Nullable StepResult result;
        private @Nullable UUID handedTo;
        private @Nullable String callEffect;
        private @Nullable Long callResult;

        private StepsTable.Changed row() {
            StepRow row = new StepRow(one.id(), one.task(), one.spec(), one.position(), one.turn(), callEffect);
            row.restore(state, attempt, failures, deliveries, leaseEpoch, resultEpoch, tokens, cost, nextRunAt,
                    startedAt, completedAt, errorCode, errorMessage, errorClass)
                    .restorePolicy(grantedRetries, failureIgnored).restoreCallResult(callResult);
            return new StepsTable.Changed(row, output, resolvedInput, result, handedTo);
        }
    }

    private static final Consumer<Values> CLAIMED = v -> {
        v.state = StepState.RUNNING;
        v.attempt = 1;
        v.deliveries = 1;
        v.leaseEpoch = 1;
        v.startedAt = THEN;
    };
    private static final Consumer<Values> COMPLETED = CLAIMED.andThen(v -> {
        v.state = StepState.COMPLETED;
        v.resultEpoch = 1;
        v.completedAt = THEN.plusMillis(5);
        v.output = "{\"n\": 1}";
        v.result = new StepResult(one.id(), 1, RUN, "completed", 1, THEN, null, 7L, null, "m", Tokens.NONE,
                BigDecimal.ZERO,
                "worker",
                true);
    });
    private static final Consumer<Values> CHARGED = COMPLETED.andThen(v -> {
        v.tokens = 5;
        v.cost = new BigDecimal("0.25");
        v.result = new StepResult(one.id(), 1, RUN, "completed", 1, THEN, "{\"say\": 1}", null, null, null,
                Tokens.undivided(5), v.cost,
                "worker",
                true);
    });
    private static final Consumer<Values> DIVIDED = CHARGED.andThen(v -> v.result = new StepResult(one.id(), 1, RUN,
            "completed", 1, THEN, null, null, null, "m", new Tokens(1, 1, 1, 2, 1), v.cost, "worker", true));
    private static final Consumer<Values> FREE =
            COMPLETED.andThen(v -> v.result = new StepResult(one.id(), 1, RUN, "completed",
                    1, THEN, null, 7L, null, null, Tokens.NONE, BigDecimal.ZERO, "worker", true));
    private static final Consumer<Values> CONTINUED = COMPLETED.andThen(v -> v.result = null);

    /** One column each that differs. */
    private static final List<Consumer<Values>> OTHERWISE = List.of(v -> v.attempt++, v -> v.failures++,
            v -> v.deliveries++,
            v -> v.leaseEpoch++, v -> v.resultEpoch++, v -> v.resultEpoch = 0, v -> v.tokens++,
            v -> v.cost = v.cost.add(BigDecimal.ONE), v -> v.nextRunAt = THEN, v -> v.startedAt = THEN.plusMillis(1),
            v -> v.startedAt = null, v -> v.completedAt = THEN, v -> v.errorCode = "X", v -> v.errorMessage = "x",
            v -> v.errorClass = "permanent", v -> v.grantedRetries++, v -> v.failureIgnored = true,
            v -> v.output = "[1]", v -> v.resolvedInput = "{}", v -> v.handedTo = new UUID(5, 6),
            v -> v.callEffect = "tool:digest/1", v -> v.callResult = 7L,
            v -> v.state = StepState.PENDING,
            v -> v.state = StepState.RUNNING, v -> v.state = StepState.COMPLETED, v -> v.state = StepState.CANCELLED,
            v -> v.state = StepState.WAITING, v -> v.state = StepState.AWAITING_RETRY);

    @BeforeAll
    static void aRun() throws SQLException {
        world = new World();
        world.send(new Command.Create(run(RUN, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"))),
                true, Actor.human("tester")));
        view = world.view(RUN);
        one = view.tasks().iterator().next().steps().getFirst();
    }

    @AfterAll
    static void close() throws SQLException {
        world.close();
    }

    @Test
    void rowsOfStepsThatSucceedAtOnceArePlain() {
        assertThat(StepsTable.plain(created(v -> {
        }))).isTrue();
        assertThat(StepsTable.plain(created(CLAIMED))).isTrue();
        assertThat(List.of(CLAIMED, COMPLETED, CHARGED, CONTINUED)).allMatch(each -> StepsTable.plain(changed(each)));
    }

    @Test
    void plainInsertsWriteAllColumns() throws SQLException {
        for (Consumer<Values> values : withVariants(v -> {
        }, CLAIMED)) {
            StepsTable.New row = created(values);
            if (StepsTable.plain(row)) {
                assertThat(written(GONE, StepsTable.INSERT_PLAIN, together(row)))
                        .isEqualTo(written(GONE, StepsTable.INSERT, row));
            }
        }
    }

    @Test
    void insertsOfCompletedStepsWriteAllColumns() throws SQLException {
        int completed = 0;
        for (Consumer<Values> values : withVariants(COMPLETED, CHARGED, DIVIDED, CONTINUED)) {
            StepsTable.New row = created(values);
            if (StepsTable.completed(row)) {
                completed++;
                assertThat(written(GONE, StepsTable.INSERT_COMPLETED,
                        StepsTable.CompletedTogether.of(List.of(row)).getFirst()))
                        .isEqualTo(written(GONE, StepsTable.INSERT, row));
            }
        }
        assertThat(completed).isGreaterThan(20);
    }

    /** Rows have no parts of undivided tokens, and the view has them. */
    @Test
    void resultsHaveThePartsOfTheirTokens() throws SQLException {
        List<StepsTable.New> steps = List.of(created(COMPLETED), created(CHARGED), created(DIVIDED));
        List<List<String>> parts = new ArrayList<>();
        for (StepsTable.New step : steps) {
            RunFixtures.execute(world.connection(), GONE);
            execute(StepsTable.INSERT_COMPLETED, StepsTable.CompletedTogether.of(List.of(step)).getFirst());
            parts.add(RunFixtures.query(world.connection(),
                    """
                    select concat_ws(' ', w.tokens, s.usage, w.usage) from work_results w join task_steps s on s.id = w.step_id"""));
            world.connection().rollback();
        }
        assertThat(parts).containsExactly(List.of("0"), List.of("5 " + usage(0, 0, 0, 5, 0)),
                List.of("5 " + usage(1, 1, 1, 2, 1) + " " + usage(1, 1, 1, 2, 1)));
    }

    private static String usage(int input, int read, int write, int output, int reasoning) {
        return "{\"input\": %d, \"output\": %d, \"reasoning\": %d, \"cache_read\": %d, \"cache_write\": %d}"
                .formatted(input, output, reasoning, read, write);
    }

    /** Completed steps of a task have each of their JSON texts once. */
    @Test
    void equalTextsAreSentOnce() {
        StepsTable.New step = created(CHARGED);
        StepsTable.New other = created(DIVIDED.andThen(v -> v.output = "{\"n\": 2}"));
        StepsTable.CompletedTogether all = StepsTable.CompletedTogether.of(List.of(step, step, other)).getFirst();
        assertThat(all.json().texts()).hasSize(5).doesNotHaveDuplicates();
        assertThat(all.steps()).extracting(StepsTable.Completed::output).containsExactly(2, 2, 4);
        assertThat(all.steps()).extracting(StepsTable.Completed::usage).containsExactly(null, null, 5);
    }

    /** Steps of one task that have not the same start, end and holder are apart. */
    @Test
    void stepsTogetherHaveTheirTimesAndHolderInCommon() {
        StepsTable.New completed = created(COMPLETED);
        List<StepsTable.New> steps = List.of(completed, created(CONTINUED), created(COMPLETED),
                created(COMPLETED.andThen(v -> v.completedAt = THEN.plusMillis(6))), created(CLAIMED));
        assertThat(StepsTable.Together.of(steps)).extracting(each -> each.steps().size()).containsExactly(2, 1, 1, 1);
    }

    /** Over rows that differ in every column. */
    @Test
    void plainUpdatesWriteAllColumns() throws SQLException {
        String before = """
                update task_steps set state = 'awaiting_retry', attempt = 3, failures = 2, deliveries = 4, lease_epoch = 5,
                    error_code = 'E', error_message = 'e', error_class = 'permanent', tokens = 9, cost = 9, next_run_at = now(),
                    started_at = now(), granted_retries = 2, failure_ignored = true, resolved_input = '{"old": 1}',
                    output = '{"old": 1}'""";
        for (Consumer<Values> values : withVariants(CLAIMED, COMPLETED, CHARGED, DIVIDED, CONTINUED)) {
            StepsTable.Changed row = changed(values);
            if (StepsTable.plain(row)) {
                assertThat(written(before, StepsTable.UPDATE_PLAIN, row))
                        .isEqualTo(written(before, StepsTable.UPDATE, row));
            }
        }
    }

    @Test
    void stepsWithoutAChargeModelOrResolvedInputComplete() {
        assertThat(StepsTable.completes(changed(FREE))).isTrue();
        assertThat(List.of(CLAIMED, COMPLETED, CHARGED, CONTINUED))
                .noneMatch(each -> StepsTable.completes(changed(each)));
    }

    /** Over a row that has been claimed. */
    @Test
    void completionsWriteAllColumns() throws SQLException {
        String before = """
                update task_steps set state = 'running', state_type = 'running', attempt = 3, failures = 2, deliveries = 4,
                    lease_epoch = 5, error_code = 'E', error_message = 'e', error_class = 'permanent', tokens = 9, cost = 9,
                    next_run_at = now(), started_at = now(), granted_retries = 2, failure_ignored = true""";
        int compared = 0;
        for (Consumer<Values> values : withVariants(FREE, COMPLETED, CHARGED, CONTINUED)) {
            StepsTable.Changed row = changed(values);
            if (StepsTable.plain(row) && StepsTable.completes(row)) {
                compared++;
                assertThat(written(before, StepsTable.COMPLETE, row))
                        .isEqualTo(written(before, StepsTable.UPDATE, row)).contains("completed");
            }
        }
        assertThat(compared).isGreaterThan(4);
    }

    @Test
    void noStatementWritesASecondResult() throws SQLException {
        String before = """
                update task_steps set state = 'completed', state_type = 'terminal', lease_epoch = 1, result_epoch = 1,
                    completed_by = 'worker', completed_at = now()""";
        StepsTable.Changed row = changed(COMPLETED);
        assertThat(written(before, StepsTable.UPDATE_PLAIN, row)).isEqualTo("23505");
        assertThat(written(before, StepsTable.UPDATE, row)).isEqualTo("23505");
        assertThat(written(before, StepsTable.COMPLETE, changed(FREE))).isEqualTo("23505");
    }

    /** Each differs from a valid row in one fact. */
    @ParameterizedTest
    @ValueSource(strings = {"state = 'running'", "state_type = 'pending'", "completed_at = null", "result_epoch = 2",
            "result_epoch = 0", "result_epoch = -1", "tokens = -1", "cost = -1", "state = 'failed'", "usage = '{}'",
            "usage = '{\"input\": 1, \"cache_read\": 0, \"cache_write\": 0, \"output\": 1, \"reasoning\": 0}'",
            "tokens = 2, usage = '{\"input\": 2, \"cache_read\": 0, \"cache_write\": 0, \"output\": 0, \"reasoning\": 1}'",
            "tokens = 2, usage = '{\"input\": 3, \"cache_read\": -1, \"cache_write\": 0, \"output\": 0, \"reasoning\": 0}'",
            "completed_by = null, tokens = 2, usage = '{\"input\": 1, \"cache_read\": 0, \"cache_write\": 0, \"output\": 1, \"reasoning\": 0}'"})
    void rowsOfStepsAreChecked(String fact) throws SQLException {
        String valid = """
                update task_steps set state = 'completed', state_type = 'terminal', lease_epoch = 1, result_epoch = 1,
                    completed_by = 'worker', completed_at = now(), handed_to = id""";
        RunFixtures.execute(world.connection(), valid);
        RunFixtures.execute(world.connection(), """
                update task_steps set tokens = 2,
                    usage = '{"input": 1, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 1}'""");
        RunFixtures.execute(world.connection(), "update task_steps set tokens = 0, usage = null");
        assertThatThrownBy(() -> RunFixtures.execute(world.connection(), "update task_steps set " + fact))
                .isInstanceOfSatisfying(SQLException.class, refusal -> assertThat(refusal.getSQLState())
                        .isEqualTo("23514"));
        world.connection().rollback();
    }

    @SafeVarargs
    private static List<Consumer<Values>> withVariants(Consumer<Values>... bases) {
        List<Consumer<Values>> all = new ArrayList<>();
        for (Consumer<Values> base : bases) {
            all.add(base);
            OTHERWISE.forEach(change -> all.add(base.andThen(change)));
        }
        return all;
    }

    private static StepsTable.Changed changed(Consumer<Values> change) {
        Values values = new Values();
        change.accept(values);
        return values.row();
    }

    private static StepsTable.New created(Consumer<Values> change) {
        return new StepsTable.New(new Owner(view.run(), 1), changed(change));
    }

    private static StepsTable.Together together(StepsTable.New step) {
        return StepsTable.Together.of(List.of(step)).getFirst();
    }

    /** The step's row as the statement leaves it, or the SQLSTATE of its refusal. */
    private static <T> String written(String before, RowSetStatement<T> statement, T row) throws SQLException {
        RunFixtures.execute(world.connection(), before);
        try {
            execute(statement, row);
            return RunFixtures.query(world.connection(), "select s::text from task_steps s").getFirst();
        } catch (SQLException e) {
            return e.getSQLState();
        } finally {
            world.connection().rollback();
        }
    }

    private static <T> void execute(RowSetStatement<T> statement, T row) throws SQLException {
        Part<T> part = statement.of(List.of(row));
        try (PreparedStatement prepared = world.connection().prepareStatement(part.sql(false))) {
            part.bind(prepared, 1, false, new Moment(THEN, THEN));
            prepared.execute();
        }
    }
}
