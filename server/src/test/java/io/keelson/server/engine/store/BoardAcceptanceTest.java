package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.store.RunStore.Search;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * PRD-101's acceptance criteria that need a run in a database, under their numbers: "models" are what Java and the database
 * hold, {@code transition_task()} and {@code transition_run()} are commands. The others: AC-1 to AC-6 and AC-8 to AC-10 in
 * {@code PrescribedTablesTest}, AC-7 in {@code ImpossibleRowsTest}, AC-16 to AC-18 in the core's {@code TransitionAcceptanceTest},
 * AC-27 in {@code BoardApiTest} and, for every route, in {@code ForeignIdsTest}, AC-28 to AC-32 in
 * {@code MigrationAcceptanceTest}.
 */
class BoardAcceptanceTest {
    private static final Actor TESTER = Actor.human("tester");
    private static final UUID RUN = new UUID(1, 1);

    private final World world = new World();

    @AfterEach
    void close() throws SQLException {
        Invariants.hold(world.database, "I10");
        world.close();
    }

    /** AC-11: a run is stored, and is the same when it is read. */
    @Test
    void ac11ARunIsAModel() throws SQLException {
        create(true);
        RunRow stored = world.load(RUN).run();
        assertThat(stored.id()).isEqualTo(RUN);
        assertThat(stored.workspaceId()).isEqualTo(world.workspace);
        assertThat(stored.state()).isEqualTo(world.view(RUN).run().state());
        assertThat(stored.counts()).isEqualTo(world.view(RUN).run().counts());
    }

    @Test
    void ac12TaskHasItsRunItsAgentAndItsBoardTask() throws SQLException {
        create(true);
        TaskRow second = world.load(RUN).task(id("b"));
        assertThat(second.agent().id()).isEqualTo(world.view(RUN).task(second.id()).agent().id());
        assertThat(second.upstreams()).extracting(TaskRow::key).containsExactly("a");
        assertThat(world.query("""
                select concat_ws('|', r.title, a.number, b.title) from orchestration_tasks t
                  join orchestration_runs r on r.id = t.run_id join run_agents a on a.id = t.run_agent_id
                  join board_tasks b on b.id = t.board_task_id where t.key = 'b'""")).containsExactly("a run|1|Task b");
    }

    @Test
    void ac13ADependencyIsThePairOfItsTasks() throws SQLException {
        create(true);
        assertRefused("23505", "insert into orchestration_task_dependencies (task_id, depends_on_id) "
                + "select task_id, depends_on_id from orchestration_task_dependencies");
    }

    @Test
    void ac14EventsAreCountedByTheDatabase() throws SQLException {
        create(false);
        assertThat(world.query("""
                select count(*) = count(distinct id) and min(id) > 0 and bool_and(pg_typeof(id) = 'bigint'::regtype)
                  from orchestration_events""")).containsExactly("t");
    }

    @Test
    void ac15VersionsRiseWithEveryChange() throws SQLException {
        create(true);
        String versions = """
                select h.version_id || ' ' || t.version_id from run_heads h join orchestration_tasks t on t.run_id = h.run_id
                 where t.key = 'a'""";
        List<String> before = world.query(versions);
        claim();
        assertThat(world.query(versions).getFirst().split(" ")).satisfies(after -> {
            assertThat(Integer.parseInt(after[0])).isGreaterThan(Integer.parseInt(before.getFirst().split(" ")[0]));
            assertThat(Integer.parseInt(after[1])).isGreaterThan(Integer.parseInt(before.getFirst().split(" ")[1]));
        });
    }

    /** AC-19, by the transaction's own id. */
    @Test
    void ac19ATransitionAndItsEventAreOneTransaction() throws SQLException {
        create(true);
        finish(claim());
        String apart = """
                select %1$s.state, e.event_type from %2$s %1$s
                 cross join lateral (
                    select * from orchestration_events e where %3$s and e.step_id is null and e.payload ->> 'to' is not null
                     order by e.seq desc limit 1) e
                 where e.payload ->> 'to' <> %1$s.state or e.xid::text <> %1$s.xmin::text""";
        assertThat(world.query(apart.formatted("t", "orchestration_tasks", "e.task_id = t.id"))).isEmpty();
        assertThat(world.query("select count(*)::text from orchestration_events where event_type = 'task_completed'"))
                .containsExactly("1");
        world.send(new Command.Cancel(RUN, null, TESTER));
        assertThat(world.query(apart.formatted("r", "orchestration_runs",
                "e.run_id = r.id and e.task_id is null and e.agent_id is null"))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"completed", "failed", "cancelled"})
    void ac20WhatEndsHasATimeAndADuration(String end) throws SQLException {
        create(true);
        StepRow step = claim();
        world.tick(Duration.ofMillis(250));
        end(step, end);
        assertThat(world.query("""
                select state || ' ' || duration_ms || ' ' || (completed_at - started_at = interval '250 ms')
                  from orchestration_tasks where key = 'a'""")).containsExactly(end + " 250 true");
        if (!end.equals("completed")) {
            assertThat(world.query("""
                    select state || ' ' || (completed_at is not null) || ' ' || duration_ms from orchestration_runs"""))
                    .containsExactly(end + " true 250");
        }
    }

    /** AC-21: who decides on what has been overtaken changes nothing, learns of it, and decides on what is. */
    @Test
    void ac21StaleUpdateIsRefusedWithTheNewRow() throws SQLException {
        create(true);
        RunView stale = world.load(RUN);
        StepRow step = claim();
        ChangeSet changes = new ChangeSet();
        Decider.decide(stale, new Command.Cancel(RUN, null, TESTER), changes, world.now, world.ids,
                LocalCapacity.none(), Funds.UNLIMITED);
        assertThatThrownBy(
                () -> world.store.commit(world.connection(), changes, List.of(), CreditSlots.only(0), world.now))
                .isInstanceOf(StaleViewException.class);
        world.connection().rollback();
        assertThat(world.load(RUN).step(step.id()).state()).isEqualTo(step.state());
        assertThat(columns()).containsExactly("in_progress a run", "in_progress Task a", "inbox Task b");
    }

    /** AC-22: after every command; the laws of the board are asked each time. */
    @Test
    void ac22TheBoardFollowsEveryTransition() throws SQLException {
        create(false);
        assertThat(columns()).containsExactly("inbox a run");
        world.send(new Command.Start(RUN, TESTER));
        assertThat(columns()).containsExactly("inbox a run", "inbox Task a", "inbox Task b");
        StepRow step = claim();
        assertThat(columns()).containsExactly("in_progress a run", "in_progress Task a", "inbox Task b");
        world.send(new Command.Pause(RUN, null, TESTER));
        assertThat(columns()).containsExactly("review a run", "in_progress Task a", "inbox Task b");
        world.send(new Command.Resume(RUN, TESTER));
        Invariants.hold(world.database, "I10");
        finish(step);
        assertThat(columns()).contains("done Task a", "inbox Task b");
        world.send(new Command.Cancel(RUN, null, TESTER));
        assertThat(columns()).containsExactly("done a run", "done Task a", "done Task b");
    }

    @Test
    void ac23ARunHasItsTaskOnTheBoard() throws SQLException {
        create(true);
        claim();
        assertThat(world.query("""
                select concat_ws('|', title, description, priority, review_mode, created_by_type, created_by_id, tags::text,
                    parent_task_id is null, run_id = source_id::uuid)
                  from board_tasks where source_type = 'orchestration' and source_id = ?""", RUN.toString()))
                .containsExactly(
                        "Mission: a run|the goal|high|manual|orchestration|tester|[\"mission\", \"running\"]|t|t");
    }

    @Test
    void ac24TasksOfARunAreBelowTheRun() throws SQLException {
        create(true);
        assertThat(world.query("""
                select concat_ws('|', c.title, c.priority, c.review_mode, c.created_by_type, c.tags::text,
                    c.source_id::uuid = t.id)
                  from board_tasks c join board_tasks p on p.id = c.parent_task_id and p.source_type = 'orchestration'
                  join orchestration_tasks t on t.board_task_id = c.id
                 where c.source_type = 'orchestration_task' order by c.title"""))
                .containsExactly("Task a|medium|auto|orchestration|[\"mission_task\", \"other\"]|t",
                        "Task b|medium|auto|orchestration|[\"mission_task\", \"other\"]|t");
    }

    /** AC-25, AC-10: the index refuses a second one, with the run that would create it; another start creates nothing. */
    @Test
    void ac25ASecondOneIsTheFirst() throws SQLException {
        create(true);
        String ids = "select id from board_tasks order by id";
        List<String> before = world.query(ids);
        assertThatThrownBy(() -> create(true)).isInstanceOf(StaleViewException.class);
        world.connection().rollback();
        world.forget(RUN);
        world.send(new Command.Start(RUN, TESTER));
        assertThat(world.query(ids)).isEqualTo(before).hasSize(3);
        for (String source : List.of("orchestration", "orchestration_task")) {
            assertRefused("23505", """
                    insert into board_tasks (workspace_id, title, source_type, source_id)
                    select workspace_id, title, source_type, source_id from board_tasks where source_type = '%s'"""
                    .formatted(source));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"completed", "failed", "cancelled"})
    void ac26WhatEndsIsReportedOn(String end) throws SQLException {
        create(true);
        end(claim(), end);
        List<String> reports = world.query("""
                select concat_ws('|', p.report_type, p.title, p.state, p.orchestration_task_id = t.id)
                  from agent_reports p left join orchestration_tasks t on t.id = p.orchestration_task_id
                 order by p.title""");
        switch (end) {
            case "completed" -> assertThat(reports).containsExactly("delivery|Task a|completed|t");
            case "failed" -> assertThat(reports).containsExactly("incident|Task a|failed|t", "summary|a run|failed");
            default -> assertThat(reports).containsExactly("summary|a run|cancelled");
        }
        assertThat(world.query("select title from agent_reports where content not like '# ' || title || '%'"))
                .isEmpty();
        assertRefused("23505", """
                insert into agent_reports (workspace_id, report_type, title, subject_id, run_id, run_attempt)
                select workspace_id, report_type, title, subject_id, run_id, run_attempt from agent_reports""");
    }

    private void create(boolean start) throws SQLException {
        world.send(new Command.Create(run(RUN, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one")),
                task("b", List.of("a"), step("one"))), start, TESTER));
    }

    private StepRow claim() throws SQLException {
        var found = world.store
                .candidates(world.connection(), new Search(null, List.of("echo"), 1, new WorkspaceRoundRobin()))
                .getFirst();
        Reply reply = world.send(new Command.Claim(RUN, found.taskId(), 0, "worker", Duration.ofSeconds(30),
                Actor.agent("worker")));
        return world.view(RUN).step(((Reply.Claimed) reply).assignment().stepId());
    }

    private void finish(StepRow step) throws SQLException {
        world.send(new Command.Complete(RUN, step.id(), step.leaseEpoch(), Result.of("\"out\""), TESTER));
    }

    private void end(StepRow step, String how) throws SQLException {
        switch (how) {
            case "completed" -> finish(step);
            case "failed" -> world.send(new Command.Fail(RUN, step.id(), step.leaseEpoch(),
                    new StepError("NO", ErrorClass.PERMANENT, "no"), Result.of("null"), TESTER));
            default -> world.send(new Command.Cancel(RUN, null, TESTER));
        }
    }

    private UUID id(String task) throws SQLException {
        return UUID.fromString(world.query("select id from orchestration_tasks where key = ?", task).getFirst());
    }

    private List<String> columns() throws SQLException {
        Invariants.hold(world.database, "I10");
        return world.query("select status || ' ' || replace(title, 'Mission: ', '') from board_tasks order by id");
    }

    private void assertRefused(String sqlState, String sql) {
        assertThatThrownBy(() -> world.database.runInTransaction(c -> RunFixtures.execute(c, sql)))
                .isInstanceOfSatisfying(SqlFailure.class, e -> assertThat(e.sqlState()).isEqualTo(sqlState));
    }
}
