package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.server.base.db.SqlFailure;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that the database itself refuses, as a bug in Java might write them (AC-7, and our own checks). */
class ImpossibleRowsTest {
    private static final String CHECK_VIOLATION = "23514";
    private static final String UNIQUE_VIOLATION = "23505";
    private static World world;

    @BeforeAll
    static void aRunWithTwoTasks() throws Exception {
        world = new World();
        UUID id = new UUID(7, 7);
        world.send(new Command.Create(run(id, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one")),
                task("b", List.of("a"), step("one"))), true, Actor.human("tester")));
    }

    @AfterAll
    static void close() throws Exception {
        world.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            update orchestration_runs set total_tokens = -1
            update orchestration_runs set total_cost = -0.000001
            update orchestration_runs set task_count = -1
            update orchestration_runs set tasks_completed = -1
            update orchestration_runs set tasks_failed = -1
            update orchestration_runs set tasks_skipped = -1
            update orchestration_runs set agent_count = -1
            update orchestration_runs set steps_total = -1
            update orchestration_runs set plan_version = -1
            update orchestration_runs set replans = -1
            update orchestration_runs set max_attempts = 0
            update orchestration_runs set effect_generation = 0
            update orchestration_runs set duration_ms = -1
            update orchestration_runs set active_ms = -1
            update orchestration_runs set attempt_number = 0
            update orchestration_runs set state = 'nonsense'
            update orchestration_runs set completed_at = now()
            update orchestration_runs set state = 'completed', state_type = 'terminal'
            update orchestration_tasks set verifier_score = 1.01
            update orchestration_tasks set verifier_score = -0.01
            update orchestration_tasks set attempt_number = 0
            update orchestration_tasks set continuation_count = -1
            update orchestration_tasks set tokens_used = -1
            update orchestration_tasks set cost = -1
            update orchestration_tasks set completed_at = now()
            update orchestration_tasks set state = 'nonsense'
            update orchestration_tasks set attempt = 0
            update orchestration_tasks set effect_generation = 0
            update orchestration_tasks set failures = -1
            update orchestration_tasks set granted_retries = -1
            update orchestration_tasks set duration_ms = -1
            update orchestration_tasks set group_id = id
            update orchestration_tasks set item_index = 0
            update orchestration_tasks set group_id = id, item_index = -1
            update orchestration_task_dependencies set depends_on_id = task_id
            update orchestration_task_dependencies set dependency_type = 'weak'
            insert into step_results (step_id, epoch, run_id, outcome, tokens, cost, recorded_at) \
                select id, 1, run_id, 'failed', 1, 0, now() from task_steps
            insert into step_results (step_id, epoch, run_id, outcome, tokens, usage, cost, recorded_at) \
                select id, 1, run_id, 'failed', 1, '{"input": 1}', 0, now() from task_steps
            insert into step_results (step_id, epoch, run_id, outcome, tokens, usage, cost, recorded_at) \
                select id, 1, run_id, 'failed', 1, '{"input": 1, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}', \
                    0, now() from task_steps
            insert into step_results (step_id, epoch, run_id, outcome, tokens, usage, cost, recorded_at) \
                select id, 1, run_id, 'failed', 1, '{"input": 2, "cache_read": -1, "cache_write": 0, "output": 0, "reasoning": 0}', \
                    0, now() from task_steps
            insert into step_results (step_id, epoch, run_id, outcome, tokens, usage, cost, recorded_at) \
                select id, 1, run_id, 'failed', 1, '{"input": 0, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 2}', \
                    0, now() from task_steps
            update task_steps set usage = '{"input": 0, "cache_read": 0, "cache_write": 0, "output": 0, "reasoning": 0}'
            update task_steps set state = 'completed', state_type = 'terminal', completed_at = now(), completed_by = 'worker', \
                lease_epoch = 1, result_epoch = 1, tokens = 2, \
                usage = '{"input": 1, "cache_read": 0, "cache_write": 0, "output": 0, "reasoning": 0}'
            update task_steps set state = 'completed', state_type = 'terminal', completed_at = now(), completed_by = 'worker', \
                lease_epoch = 1, result_epoch = 1, tokens = 2, \
                usage = '{"input": 0, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}'
            update task_steps set tokens = 1, \
                usage = '{"input": 0, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}'
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 0, 'reserved', 'spent', id, 1, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 'NaN', 'reserved', 'spent', id, 1, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'available', 'spent', id, 1, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'available', id, 1, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', null, 1, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, 0, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, null, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, idempotency_key, actor_type, created_at) \
                select workspace_id, 'refund', 1, 'reserved', 'spent', id, 1, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, cost, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, 1, 2, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, tokens, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, 1, 1, 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, tokens, usage, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, 1, 2, '{"input": 0, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}', 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, tokens, usage, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, 1, -1, '{"input": 0, "cache_read": 0, "cache_write": 0, "output": -1, "reasoning": 0}', 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, tokens, usage, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, 1, 1, '{"input": 0, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 2}', 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, tokens, usage, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, 1, 1, '{"output": 1}', 'key', 'system', now() from orchestration_runs
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account, run_id, \
                attempt_number, usage, idempotency_key, actor_type, created_at) \
                select workspace_id, 'charge', 1, 'reserved', 'spent', id, 1, '{"input": 0, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}', 'key', 'system', now() from orchestration_runs
            insert into prices (version, kind, name, usd_per_million_input, created_at, created_by) \
                values (1, 'model', 'half', 1, now(), 'me')
            insert into prices (version, kind, name, usd_per_million_cache_read, created_at, created_by) \
                values (1, 'model', 'cache', 1, now(), 'me')
            insert into prices (version, kind, name, usd_per_million_input, usd_per_million_output, created_at, created_by) \
                values (1, 'tool', 'tool', 1, 1, now(), 'me')
            insert into prices (version, kind, name, usd_per_million_input, usd_per_million_output, created_at, created_by) \
                values (1, 'model', 'less', 1, -1, now(), 'me')
            update task_steps set tokens = -1
            update task_steps set cost = -1
            update task_steps set result_epoch = lease_epoch + 1
            update task_steps set completed_at = now()
            update task_steps set completed_by = 'worker'
            update task_steps set handed_to = id
            update run_agents set completed_at = now()
            update run_agents set state = 'nonsense'
            update run_agents set attempt = 0
            update run_agents set number = 0
            update run_attempts set attempt_number = 0
            update run_attempts set credits_charged = -1
            update run_attempts set credits_refunded = -1
            update run_attempts set uncollected = -1
            update run_attempts set settled_at = now(), credits_reserved = 1, credits_charged = 0, credits_refunded = 0
            update run_heads set credits_charged = -1
            update run_heads set credits_left = -1
            update credit_slots set available = -1
            update credit_slots set funded = -1
            update credit_slots set spent = -1
            update credit_slots set spent = 'NaN'
            update credit_slots set slot = 4 where slot = 3
            update credit_slots set slot = -1 where slot = 0
            update work_queue set lease_ms = 1000
            update work_queue set holder = 'worker'
            update work_queue set deadline_at = now()
            update board_tasks set status = 'nonsense'
            """)
    void ac07IsRefused(String sql) {
        assertThatThrownBy(() -> world.database.runInTransaction(c -> RunFixtures.execute(c, sql)))
                .isInstanceOfSatisfying(SqlFailure.class, e -> assertThat(e.sqlState()).isEqualTo(CHECK_VIOLATION));
    }

    /** Every state of the lifecycle with its type is accepted, and with no other type. */
    @Test
    void aStateHasOneType() throws Exception {
        for (Map.Entry<String, State[]> table : Map.<String, State[]>of("orchestration_runs", RunState.values(),
                "run_agents", AgentState.values(), "orchestration_tasks", TaskState.values(), "task_steps",
                StepState.values()).entrySet()) {
            for (State state : table.getValue()) {
                for (StateType type : StateType.values()) {
                    assertThat(accepts(table.getKey(), state, type)).as("%s %s as %s", table.getKey(), state, type)
                            .isEqualTo(type == state.type());
                }
            }
        }
    }

    private static boolean accepts(String table, State state, StateType type) throws Exception {
        try {
            RunFixtures.execute(world.connection(), "update " + table + " set state = '" + state.wire()
                    + "', state_type = '" + type.wire() + "', completed_at = "
                    + (type == StateType.TERMINAL ? "now()" : "null"));
            return true;
        } catch (SQLException e) {
            assertThat(e.getSQLState()).isEqualTo(CHECK_VIOLATION);
            return false;
        } finally {
            world.connection().rollback();
        }
    }

    @Test
    void eventsAreNeverChanged() {
        List<String> attempts = Arrays.asList("update run_event_packs set body = body",
                "delete from run_event_packs", "truncate run_event_packs",
                "truncate orchestration_runs cascade", "delete from orchestration_runs");
        for (String sql : attempts) {
            assertThatThrownBy(() -> world.database.runInTransaction(c -> RunFixtures.execute(c, sql))).as(sql)
                    .isInstanceOf(SqlFailure.class).hasMessageContaining("append-only");
        }
    }

    /** A lease has one result: in the row of its step, or in the table of the others. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aLeaseHasOneResult(int epoch) {
        String another = "insert into step_results (step_id, epoch, run_id, outcome, tokens, cost, recorded_at)"
                + " select id, " + epoch
                + ", run_id, 'failed', 0, 0, now() from orchestration_steps where name = 'two'";
        assertThatThrownBy(() -> world.database.runInTransaction(c -> {
            RunFixtures.execute(c,
                    "update task_steps set name = 'two', state = 'completed', state_type = 'terminal',"
                            + " completed_at = now(), completed_by = 'worker', lease_epoch = 2, result_epoch = 2");
            RunFixtures.execute(c, another);
            if (epoch < 2) {
                RunFixtures.execute(c, another);
            }
        })).isInstanceOfSatisfying(SqlFailure.class, e -> assertThat(e.sqlState()).isEqualTo(UNIQUE_VIOLATION))
                .hasMessageContaining(epoch < 2 ? "step_results_pkey" : "has a result");
    }

    /** The views of events, results, steps and balances are read only. */
    @ParameterizedTest
    @ValueSource(strings = {"update orchestration_events set event_type = 'x'", "delete from orchestration_events",
            "update work_results set tokens = 1", "delete from work_results",
            "update orchestration_steps set tokens = 1", "delete from orchestration_steps",
            "update credit_balances set reserved = -1", "delete from credit_balances",
            "insert into orchestration_events (run_id, seq, event_type) select run_id, 99, 'x' from run_event_packs"})
    void viewsAreOnlyRead(String sql) {
        assertThatThrownBy(() -> world.database.runInTransaction(c -> RunFixtures.execute(c, sql)))
                .isInstanceOf(SqlFailure.class).hasMessageContaining("view");
    }

    /** A pack has at least one event. */
    @ParameterizedTest
    @CsvSource({"0, 1", "50, 0"})
    void aPackHasEvents(long first, int events) {
        assertThatThrownBy(() -> world.database.runInTransaction(c -> RunFixtures.execute(c, """
                insert into run_event_packs (run_id, first_seq, body)
                select run_id, %d, (select coalesce(json_agg(json_build_object('e', 'x', 'p', '{}')), '[]')
                    from generate_series(1, %d)) from run_event_packs limit 1""".formatted(first, events))))
                .isInstanceOfSatisfying(SqlFailure.class, e -> assertThat(e.sqlState()).isEqualTo(CHECK_VIOLATION));
    }

    @Test
    void aRunHasOneEventOfANumberAndAWorkspaceOneRunOfAnExternalId() {
        assertThatThrownBy(() -> world.database.runInTransaction(c -> RunFixtures.execute(c, """
                insert into run_event_packs (run_id, first_seq, body)
                select run_id, 1, '[{"e": "x", "p": {}}]' from run_event_packs limit 1""")))
                .hasMessageContaining("ix_orch_events_run");
        assertThatThrownBy(() -> world.database.runInTransaction(c -> RunFixtures.execute(c, """
                insert into orchestration_runs (workspace_id, title, goal, created_by, external_id)
                select workspace_id, 't', 'g', 'me', 'mine' from orchestration_runs cross join generate_series(1, 2)
                """))).hasMessageContaining("uq_orch_runs_external");
    }
}
