package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.money.Funds;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.server.engine.store.RunStore.Search;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a commit leaves in the tables, and when it is refused. */
class WriteTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Actor TESTER = Actor.human("tester");

    private final World world = new World();

    @AfterEach
    void close() throws SQLException {
        world.close();
    }

    /** Only those are looked up by their time. */
    @Test
    void resultsWhoseTokensCostNothingAreNotInTheRowsOfTheirSteps() throws SQLException {
        UUID run = new UUID(1, 4);
        world.send(new Command.Create(
                run(run, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"), step("two"))), true,
                TESTER));
        complete(claim(run, 0), new Result("1", new Tokens(1, 0, 0, 4, 2), new BigDecimal("0.25"), List.of()));
        complete(claim(run, 0), new Result("2", Tokens.undivided(7), BigDecimal.ZERO, List.of()));

        assertThat(world.query("""
                select concat_ws(' ', s.name, s.completed_by, w.tokens, w.usage ->> 'output', w.usage ->> 'reasoning')
                  from orchestration_steps s join work_results w on w.step_id = s.id order by s.position"""))
                .containsExactly("one worker 5 4 2", "two 7 7 0");
        assertThat(world.query("select concat_ws(' ', tokens, usage ->> 'output') from free_usage"))
                .containsExactly("7 7");
        assertThat(world.query("select tokens::text from step_results")).containsExactly("7");
    }

    @Test
    void aRunFromItsStartToItsEnd() throws SQLException {
        UUID run = new UUID(1, 1);
        world.send(new Command.Create(
                run(run, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"), step("two"))), true,
                TESTER));
        world.tick(Duration.ofMillis(250));
        StepRow one = claim(run, 0);
        complete(one, new Result("{\"n\": 1}", Tokens.undivided(5), new BigDecimal("0.25"), List.of()));
        world.tick(Duration.ofMillis(250));
        complete(claim(run, 0), new Result("\"two lines\"", Tokens.NONE, BigDecimal.ZERO,
                List.of(new NewArtifact("report.md", "text/markdown", 12, "b".repeat(64), "k1"))));

        assertThat(world.query("""
                select concat_ws(' ', state, state_type, r.total_tokens, trim_scale(r.total_cost), tasks_completed,
                    steps_completed, duration_ms, h.version_id)
                  from orchestration_runs r join run_heads h on h.run_id = r.id"""))
                .containsExactly("completed terminal 5 0.25 1 2 250 6");
        assertThat(world.query("select concat_ws(' ', state, output_summary, duration_ms) from orchestration_tasks"))
                .containsExactly("completed two lines 250");
        assertThat(world.query("select output::text from orchestration_steps order by position"))
                .containsExactly("{\"n\": 1}", "\"two lines\"");
        assertThat(world.query("select concat_ws(' ', outcome, epoch, tokens, holder) from work_results"))
                .containsExactlyInAnyOrder("completed 1 5 worker", "completed 1 0 worker");
        assertThat(world.query("select concat_ws(' ', name, size_bytes, attempt) from artifacts"))
                .containsExactly("report.md 12 1");
        assertThat(world.query("select (a.expires_at - r.completed_at)::text from artifacts a"
                + " join orchestration_runs r on r.id = a.run_id")).containsExactly("30 days");
        assertThat(world
                .query("select concat_ws(' ', attempt_number, state, started_at < completed_at) from run_attempts"))
                .containsExactly("1 completed t");
        assertThat(world.query("select event_type from orchestration_events order by seq")).containsSubsequence(
                "run_created", "run_queued", "task_queued", "run_started", "step_started", "step_completed",
                "step_started", "step_completed", "task_completed", "agent_completed", "run_completed");
        assertThatThrownBy(() -> world.query("""
                insert into artifacts (id, run_id, workspace_id, attempt, step_id, name, content_type, size_bytes, sha256,
                    storage_key, created_at)
                select gen_random_uuid(), run_id, workspace_id, attempt, step_id, 'copy', content_type, size_bytes, sha256,
                    storage_key, created_at from artifacts returning id""")).hasMessageContaining("uq_artifacts_key");
    }

    @Test
    void charactersJsonbRefusesAreReplaced() throws SQLException {
        UUID run = new UUID(1, 1);
        world.send(new Command.Create(run(run, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"))),
                true, TESTER));
        complete(claim(run, 0), Result.of("{\"a\\u0000\":\"x\\uD800y\",\"raw\":\"\uDC00\"}"));
        assertThat(world.query("select output::text from orchestration_steps"))
                .containsExactly("{\"raw\": \"\uFFFD\", \"a\uFFFD\": \"x\uFFFDy\"}");
    }

    @Test
    void aStaleViewWritesNothing() throws SQLException {
        UUID run = new UUID(1, 1);
        world.send(new Command.Create(run(run, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"))),
                true, TESTER));
        RunView stale = world.load(run);
        world.send(new Command.Pause(run, null, TESTER));

        ChangeSet changes = new ChangeSet();
        Decider.decide(stale, new Command.Cancel(run, null, TESTER), changes, world.now, world.ids,
                LocalCapacity.none(), Funds.UNLIMITED);
        Connection c = world.connection();
        assertThatThrownBy(() -> world.store.commit(c, changes, List.of(), CreditSlots.only(0), world.now))
                .isInstanceOf(StaleViewException.class);
        List<String> committed = world.database.withConnection(other -> RunFixtures.query(other,
                "select state from orchestration_runs"));
        assertThat(committed).containsExactly("paused");
        c.rollback();
    }

    /** The statement for completed steps has no clause for missing rows: the head of the run proves them. */
    @Test
    void aStepOfADeletedRunDoesNotComplete() throws SQLException {
        UUID run = new UUID(1, 1);
        world.send(new Command.Create(
                run(run, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"), step("two"))), true,
                TESTER));
        StepRow step = claim(run, 0);
        RunView stale = world.load(run);
        List<String> packs = world.query("select count(*)::text from run_event_packs");
        Connection c = world.connection();
        c.rollback();
        world.database.runInTransaction(other -> {
            RunFixtures.execute(other, "set local session_replication_role = replica");
            RunFixtures.execute(other, "delete from orchestration_runs");
            RunFixtures.execute(other, "delete from run_heads");
            RunFixtures.execute(other, "delete from task_steps");
        });

        ChangeSet changes = new ChangeSet();
        Decider.decide(stale, new Command.Complete(run, step.id(), step.leaseEpoch(), Result.of("1"),
                Actor.agent("worker")), changes, world.now, world.ids, LocalCapacity.none(), Funds.UNLIMITED);
        assertThatThrownBy(() -> world.store.commit(c, changes, List.of(), CreditSlots.only(0), world.now))
                .isInstanceOf(StaleViewException.class);
        c.rollback();
        assertThat(world.query("select count(*)::text from run_event_packs")).isEqualTo(packs);
    }

    /** As one that was suspended is, or thinks that it was. */
    @ParameterizedTest
    @CsvSource({"-6, false", "-4, true", "4, true", "6, false"})
    void nodeWithAWrongTimeWritesNothing(int seconds, boolean written) throws SQLException {
        Instant thought = world.now.plusSeconds(seconds);
        UUID old = new UUID(1, 1);
        world.send(new Command.Create(run(old, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"))),
                true, TESTER));
        ChangeSet paused = new ChangeSet();
        Decider.decide(world.load(old), new Command.Pause(old, null, TESTER), paused, thought, world.ids,
                LocalCapacity.none(), Funds.UNLIMITED);
        ChangeSet created = new ChangeSet();
        Decider.create(new Command.Create(run(new UUID(1, 2), world.workspace, RunPolicy.DEFAULT,
                task("a", List.of(), step("one"))), true, TESTER), created, thought, world.ids, LocalCapacity.none(),
                Funds.UNLIMITED);
        world.connection().rollback();

        for (ChangeSet changes : List.of(paused, created)) {
            ThrowingCallable write = () -> world.store.commitUnlocked(world.connection(), changes, List.of(),
                    CreditSlots.only(0), thought);
            if (written) {
                assertThatCode(write).doesNotThrowAnyException();
            } else {
                assertThatThrownBy(write).isInstanceOf(StaleViewException.class);
            }
            world.connection().rollback();
        }
        assertThat(world.query("select state from orchestration_runs order by id"))
                .containsExactly(written ? new String[] {"paused", "pending"} : new String[] {"pending"});
    }

    @Test
    void stepOfAnEarlierAttemptStaysInThatAttempt() throws SQLException {
        UUID run = new UUID(1, 1);
        TaskSpec a = task("a", List.of(), step("one"));
        TaskSpec b = task("b", List.of(), step("one"));
        world.send(new Command.Create(run(run, world.workspace, RunPolicy.DEFAULT, a, b), true, TESTER));
        StepRow first = claim(run, 0);
        StepRow second = claim(run, 0);
        world.forget(run);
        RunView view = world.load(run);
        List<Command> inOneBatch =
                List.of(new Command.Continue(run, first.id(), 1, Result.of("1"), TESTER), new Command.Fail(run,
                        second.id(), 1, new StepError("NO", ErrorClass.PERMANENT, "no"), Result.of("null"), TESTER));
        assertThat(view.run().attempt()).isEqualTo(1);
        List<Command> batch = new ArrayList<>(inOneBatch);
        batch.add(new Command.Retry(run, false, TESTER));
        world.views.put(run, withPlan(run));
        assertThat(world.sendAll(batch)).allMatch(reply -> reply.equals(Reply.CHANGED));

        assertThat(
                world.query("select attempt_of_run || ' ' || turn || ' ' || state from orchestration_steps order by 1"))
                .containsExactly("1 1 completed", "1 1 failed", "1 2 cancelled", "2 1 pending", "2 1 pending");
        assertThat(world.query("select attempt_number || ' ' || state from run_attempts order by 1"))
                .containsExactly("1 failed", "2 pending");
    }

    /** A view that was in memory from the beginning still has its plan. */
    private RunView withPlan(UUID run) throws SQLException {
        RunFixtures.execute(world.connection(), """
                update orchestration_runs set state = 'planning', state_type = 'pending'""");
        RunView planned = world.load(run);
        world.connection().rollback();
        RunView now = world.load(run);
        assertThat(planned.run().version()).isEqualTo(now.run().version());
        planned.run().restore(now.run().state(), now.run().attempt(), 1, now.run().version(), now.run().seq(), false,
                now.run().counts(), now.run().tokens(), now.run().cost(), now.run().startedAt(), null, null, null);
        return planned;
    }

    @Test
    void aBatchOfManyTakesOneMessageAsABatchOfFewDoes() throws SQLException {
        assertThat(messagesFor(2, 0)).isEqualTo(1);
        assertThat(messagesFor(40, 100)).isEqualTo(1);
    }

    private long messagesFor(int runs, long firstId) throws SQLException {
        ChangeSet changes = new ChangeSet();
        for (int i = 0; i < runs; i++) {
            NewRun made = run(new UUID(2, firstId + i), world.workspace, RunPolicy.DEFAULT,
                    task("a", List.of(), step("one")), task("b", List.of("a"), step("one")));
            Decider.create(new Command.Create(made, true, TESTER), changes, world.now, world.ids, LocalCapacity.none(),
                    Funds.UNLIMITED);
        }
        CountingConnection counting = new CountingConnection(world.connection());
        world.store.commit(counting.connection(), changes, List.of(), CreditSlots.only(0),
                Instant.parse("2026-01-01T00:00:00Z"));
        return counting.statements();
    }

    private StepRow claim(UUID run, int lane) throws SQLException {
        var found = world.store
                .candidates(world.connection(), new Search(null, List.of("echo"), 1, new WorkspaceRoundRobin()))
                .getFirst();
        Reply reply = world.send(new Command.Claim(run, found.taskId(), lane, "worker", LEASE, Actor.agent("worker")));
        return world.view(run).step(((Reply.Claimed) reply).assignment().stepId());
    }

    private void complete(StepRow step, Result result) throws SQLException {
        UUID run = world.views.keySet().iterator().next();
        assertThat(world.send(new Command.Complete(run, step.id(), step.leaseEpoch(), result, Actor.agent("worker"))))
                .isEqualTo(Reply.CHANGED);
    }
}
