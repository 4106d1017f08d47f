package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepAssignment;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.db.TestPostgres;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.SeenPlans.Seen;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import io.keelson.server.engine.store.read.Detail;
import io.keelson.server.engine.store.read.DocumentReader;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.engine.store.read.GatewayRecords;
import io.keelson.server.engine.store.read.InboxReader;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.read.RunSelection;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.engine.store.read.ScopeReader.Wanted;
import io.keelson.server.engine.store.read.StepWorkReader;
import io.keelson.server.engine.store.retention.EventRetention;
import io.keelson.server.engine.store.sql.RowSetStatement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Frequent statements use indexes, with a long history and a long queue: the plans of all statements as executed on tables
 * with 20,000 ended steps, 100,000 packs of events, and 6,000 queued runs.
 */
@Breadth.InPart(1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HotPlansTest {
    private static final int ENDED = 5_000;
    private static final int QUEUED = 6_000;
    private static final int FEW = 20;
    /** Rows that one node of a plan may look at; a batch of the tests below concerns some hundred. */
    private static final long MAX_ROWS = 2_500;
    /** Pages that a claim may look at for the queue's sake, from the search for work to the commit. */
    private static final long MAX_PAGES = 40;
    /** A workspace with 6,000 questions to people. */
    private static final UUID CROWDED = new UUID(9, 9);
    /** A step with the records of 6,000 requests. */
    private static final UUID PROGRAM = new UUID(9, 10);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Actor TESTER = Actor.human("tester");
    private static final Set<String> BIG = Set.of("orchestration_runs", "run_heads", "orchestration_tasks",
            "task_steps", "run_event_packs", "orchestration_task_dependencies", "run_agents",
            "run_attempts", "step_results", "work_queue", "timers", "board_tasks", "agent_reports",
            "credit_slots");
    private static final List<RowSetStatement<?>> WRITES = List.of(RunsTable.INSERT, RunsTable.UPDATE,
            RunsTable.INSERT_HEAD, RunsTable.UPDATE_HEAD, RunsTable.MOVE_HEAD, AgentsTable.INSERT, AgentsTable.UPDATE,
            TasksTable.INSERT,
            TasksTable.UPDATE, DependenciesTable.INSERT, StepsTable.INSERT, StepsTable.INSERT_PLAIN, StepsTable.UPDATE,
            StepsTable.UPDATE_PLAIN, StepsTable.COMPLETE, EventPacksTable.INSERT, EventPacksTable.INSERT_ASSIGNING,
            ResultsTable.INSERT,
            AttemptsTable.UPSERT, ArtifactsTable.INSERT, QueueTable.PUT, QueueTable.REMOVE, QueueTable.CLEAR,
            TimersTable.ARM, TimersTable.DISARM, BoardTable.INSERT_RUN, BoardTable.INSERT_TASK,
            BoardTable.UPDATE, ReportsTable.INSERT_TASK, ReportsTable.INSERT_RUN, CreditSlotsTable.CHANGE);

    private SeenPlans committer;
    private SeenPlans pool;
    private World world;
    private UUID ended;
    private UUID queued;
    /** All but a few rows of the queue are of an agent that has reached its limit. */
    private WorkLimits.Capacity slow;
    private long ids;

    @BeforeAll
    void fill() throws SQLException {
        DatabaseUrl owned = TestPostgres.server().url(TestDatabase.createUrlOfPlainOwner().database());
        world = new World(new Database(owned, DatabaseOptions.DEFAULTS.withPoolSize(8)),
                real -> (committer = new SeenPlans(real)).connection());
        pool = new SeenPlans(world.database.dedicatedConnection());
        ended = start();
        while (!world.view(ended).run().state().terminal()) {
            StepRow step = claim(ended);
            world.send(new Command.Complete(ended, step.id(), step.leaseEpoch(), Result.of("{\"n\":1}"), TESTER));
        }
        somethingOfEverything(5);
        goByLookUps(committer.take());
        queued = start();
        try (Connection c = world.database.dedicatedConnection()) {
            RunFixtures.execute(c, "update work_queue set agent = 'slow' where run_id = '" + queued + "'");
            BigTables.copy(c, queued, 1, FEW);
        }
        RunFixtures.execute(world.connection(), "insert into workspace_limits values ('" + world.workspace
                + "', 'agent_per_minute:slow', 0)");
        WorkLimits limits = new WorkLimits();
        limits.meet(world.connection(), List.of(world.workspace));
        slow = limits.capacity(world.connection(), limits.workspaces());
        world.connection().commit();
        // What is cached from here on was planned on tables that are all but empty, and known to be.
        analyze();
        somethingOfEverything(1);
        goByLookUps(committer.take());
        pagesOfAClaim();
        try (Connection c = world.database.dedicatedConnection()) {
            BigTables.copy(c, ended, 1, ENDED);
            BigTables.copy(c, queued, FEW + 1, QUEUED);
            RunFixtures.execute(c, """
                    insert into timers (kind, subject, run_id, due_at)
                    select 'step_retry', gen_random_uuid(), gen_random_uuid(), '2030-01-01'::timestamptz
                      from generate_series(1, 6000)""");
            RunFixtures.execute(c, """
                    insert into timers (kind, subject, run_id, due_at, workspace_id, question, asked_at, answer_by)
                    select 'human', lpad(to_hex(n), 32, '0')::uuid, gen_random_uuid(), '2030-01-01'::timestamptz, '%s',
                        'escalation', '2030-01-01'::timestamptz, '2030-01-01'::timestamptz
                      from generate_series(1, 6000) n""".formatted(CROWDED));
            RunFixtures.execute(c, """
                    insert into gateway_requests (id, workspace_id, run_id, task_id, step_id, lease_epoch, model, k1, k2, facts,
                        max_input, max_output, held_credits, state, answer, sent_at)
                    select gen_random_uuid(), '%s', '%s', '%s', '%s', 1, 'm', md5('1' || n) || md5('1' || n), md5('2' || n) || md5('2' || n),
                        '{}', 1, 1, 0, 'answered', '{}', '2030-01-01'::timestamptz
                      from generate_series(1, 6000) n""".formatted(world.workspace, ended, PROGRAM, PROGRAM));
            RunFixtures.execute(c, """
                    insert into credit_slots (workspace_id, slot)
                    select workspace, slot from (select gen_random_uuid() as workspace from generate_series(1, 6000)) w
                     cross join generate_series(0, 3) as slot""");
            RunFixtures.execute(c, """
                    insert into board_tasks (workspace_id, title, status, source_type, source_id)
                    select workspace_id, title, 'done', 'orchestration', id::text from orchestration_runs
                    union all
                    select workspace_id, title, 'done', 'orchestration_task', id::text from orchestration_tasks
                    on conflict do nothing""");
            RunFixtures.execute(c, """
                    insert into agent_reports (workspace_id, report_type, title, subject_id, run_id, run_attempt)
                    select workspace_id, 'delivery', title, id, run_id, attempt from orchestration_tasks
                    on conflict do nothing""");
        }
        world.send(new Command.Create(run(UUID.randomUUID(), world.workspace, RunPolicy.DEFAULT.withApprovePlan(true),
                task("a", List.of(), step("one"))), true, TESTER));
        committer.take();
        pool.take();
    }

    @AfterAll
    void close() throws SQLException {
        pool.connection().close();
        world.close();
    }

    @Test
    void commitsGoByIndex() throws SQLException {
        somethingOfEverything(2);
        goByIndex(committer.take());

        analyze();
        somethingOfEverything(3);
        List<Seen> seen = committer.take();
        goByIndex(seen);
        goByLookUps(seen);
        Set<String> texts = seen.stream().map(Seen::sql).collect(Collectors.toSet());
        assertThat(WRITES).as("the sequence goes everywhere").allMatch(
                each -> texts.contains(each.sql().strip()) || texts.contains(each.sqlOfOne().strip()));
    }

    /** Where no superuser does it, the conditions of row-level security are in all plans. */
    @Test
    void soDoesAPlainOwner() throws SQLException {
        analyze();
        as(committer.connection(), TestDatabase.PLAIN_OWNER);
        try {
            somethingOfEverything(4);
            goByIndex(committer.take());
        } finally {
            as(committer.connection(), "none");
        }
        as(pool.connection(), TestDatabase.PLAIN_OWNER);
        try {
            askOften();
            RunFixtures.execute(pool.connection(), "set keelson.workspace = '" + world.workspace + "'");
            askOften();
        } finally {
            RunFixtures.execute(pool.connection(), "reset keelson.workspace");
            as(pool.connection(), "none");
        }
    }

    private static void as(Connection c, String role) throws SQLException {
        RunFixtures.execute(c, "set role " + role);
        if (!c.getAutoCommit()) {
            c.commit();
        }
    }

    @Test
    void frequentQueriesUseIndexes() throws SQLException {
        analyze();
        askOften();
    }

    private void askOften() throws SQLException {
        // PostgreSQL plans a statement five times with its values and may then keep a generic plan.
        for (int i = 0; i < 7; i++) {
            askEverything(pool.connection());
        }
        goByIndex(pool.take());
    }

    @Test
    void aRequestOfAProgramReadsLittleOfTheRecord() throws SQLException {
        analyze();
        for (int i = 0; i < 7; i++) {
            GatewayRecords.find(pool.connection(), List.of(
                    new GatewayRecords.Keys(List.of(PROGRAM, ended), "0".repeat(64), "1".repeat(64)),
                    new GatewayRecords.Keys(List.of(PROGRAM), "2".repeat(64), "3".repeat(64))));
        }
        assertThat(pool.take()).hasSize(7).allSatisfy(each -> assertThat(each.nodes()).as("%s", each)
                .allSatisfy(node -> assertThat(rowsRead(node)).isLessThan(10)));
    }

    @Test
    void aClaimReadsLittleOfALongQueue() throws SQLException {
        analyze();
        assertThat(world.query("select pg_relation_size('work_queue') / 8192 >= " + 3 * MAX_PAGES))
                .containsExactly("t");
        // A single claim may meet a page that was just split, or dead rows not yet cleaned up.
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            least = Math.min(least, pagesOfAClaim());
        }
        assertThat(least).isPositive().isLessThanOrEqualTo(MAX_PAGES);
    }

    /** An index without a condition is read from one end to the other, however little that is while a table is empty. */
    private static void goByLookUps(List<Seen> seen) {
        assertThat(seen.stream().flatMap(each -> each.nodes().stream()
                .filter(node -> BIG.contains(node.path("Relation Name").asString(""))
                        && node.get("Node Type").asString().startsWith("Index") && !node.has("Index Cond"))
                .map(node -> each.sql() + "\nreads all of " + node)).distinct()).isEmpty();
    }

    private static void goByIndex(List<Seen> seen) {
        assertThat(seen).isNotEmpty();
        assertThat(seen.stream().flatMap(each -> each.nodes().stream().filter(HotPlansTest::dear)
                .map(node -> each.sql() + "\nreads " + rowsRead(node) + " rows by " + node)).distinct()).isEmpty();
    }

    private static boolean dear(JsonNode node) {
        return BIG.contains(node.path("Relation Name").asString(""))
                && (node.get("Node Type").asString().equals("Seq Scan") || rowsRead(node) > MAX_ROWS);
    }

    private static double rowsRead(JsonNode node) {
        double rows = node.path("Actual Rows").asDouble() + node.path("Rows Removed by Filter").asDouble()
                + node.path("Rows Removed by Index Recheck").asDouble();
        return rows * node.path("Actual Loops").asDouble();
    }

    private void analyze() throws SQLException {
        RunFixtures.execute(committer.connection(), "analyze");
        committer.connection().commit();
    }

    /** Batches of random commands that come by every kind of change. */
    private void somethingOfEverything(long seed) throws SQLException {
        RandomRuns made = new RandomRuns(world, seed);
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            List<Command> batch = made.batch(runs);
            for (int n = 0; n < 3 && runs.size() < 40; n++) {
                batch.add(made.create());
                runs.add(batch.getLast().runId());
            }
            world.sendAll(batch);
            world.store.prove(world.connection(), List.of(world.load(runs.getFirst())));
            world.connection().commit();
            world.views.values().removeIf(view -> view.run().state().terminal());
        }
        world.capacity = LocalCapacity.none();
    }

    private void askEverything(Connection c) throws SQLException {
        StepRow held = claim(start());
        UUID run = world.views.keySet().stream().filter(id -> world.view(id).task(held.task().id()) != null).findFirst()
                .orElseThrow();
        List<UUID> steps = List.of(held.id());
        List<UUID> both = List.of(ended, run);
        world.store.candidates(c, new Search(null, List.of("echo", "other"), 100, new WorkspaceRoundRobin()));
        world.store.candidates(c,
                new Search(world.workspace, List.of("echo", "other"), 100, new WorkspaceRoundRobin()));
        for (UUID workspace : Arrays.asList(null, world.workspace)) {
            assertThat(world.store.candidates(c,
                    new Search(workspace, List.of("echo", "other"), 100, new WorkspaceRoundRobin()), slow))
                    .noneMatch(each -> each.agent().equals("slow"));
        }
        world.store.due(c, false);
        world.store.expired(c, 100);
        world.store.dueTimers(c, 100);
        world.store.credits(c, List.of(world.workspace), Instant.EPOCH);
        world.store.stuckJoins(c, RunStore.Place.FIRST, 1_000);
        world.store.ended(c, both);
        world.store.extendLeases(c, "worker", List.of(new Lane(held.task().id(), 0)));

        LeaseHeartbeats heartbeats = new LeaseHeartbeats(() -> world.now);
        assertThat(heartbeats.beat(c, world.workspace, "worker",
                List.of(new LeaseHeartbeats.Beat(held.id(), held.leaseEpoch(), 0.5, "half", null)))).hasSize(1);
        heartbeats.log(c, List.of(new LeaseHeartbeats.Log(held.id(), held.leaseEpoch(), 0, List.of("a line"))));
        StepWorkReader work = new StepWorkReader();
        work.work(c, steps);
        work.ownersOf(c, world.workspace, steps);

        ScopeReader scopes = new ScopeReader();
        scopes.scope(c, run, held.task().id(),
                new Wanted(List.of("a"), false, List.of("one"), false, true, true, true, true, true, true));
        scopes.scope(c, run, held.task().id(),
                new Wanted(List.of(), true, List.of(), true, true, true, true, true, true, true));
        scopes.replan(c, run);
        scopes.task(c, held.task().id());
        scopes.step(c, held.id());
        scopes.groupOutput(c, held.task().id());
        scopes.generations(c, scopes.task(c, held.task().id()), 1_000);
        readEverything(c, run, held);
    }

    private void readInbox(Connection c) throws SQLException {
        InboxReader inbox = new InboxReader(() -> world.now);
        List<ObjectNode> items = inbox.items(c, world.workspace, InboxReader.Filter.ALL, null, 50).items();
        assertThat(items).as("waits for people").isNotEmpty();
        ObjectNode first = items.getFirst();
        inbox.items(c, world.workspace, InboxReader.Filter.ALL, InboxReader.Place.of(first), 50);
        inbox.stats(c, world.workspace);
        String kind = first.get("kind").stringValue();
        UUID subject = UUID.fromString(first.get("subject").stringValue());
        assertThat(inbox.item(c, world.workspace, kind, subject)).contains(first);
        assertThat(inbox.assign(c, world.workspace, kind, subject,
                new InboxReader.Assignment(false, null, false, null, "tester")))
                .isTrue();
        UUID other = UUID.randomUUID();
        assertThat(inbox.item(c, CROWDED, "escalation", other)).isEmpty();
        assertThat(inbox.assign(c, CROWDED, "escalation", other,
                new InboxReader.Assignment(false, null, false, null, "tester")))
                .isFalse();
    }

    private void readEverything(Connection c, UUID run, StepRow held) throws SQLException {
        UUID workspace = world.workspace;
        readInbox(c);
        RunReader reader = new RunReader();
        reader.run(c, workspace, run);
        reader.someRuns(c, workspace, List.of(run, ended));
        reader.byExternalId(c, workspace, "nothing");
        RunSelection all = RunSelection.ALL;
        reader.runs(c, workspace, all, reader.runs(c, workspace, all, null, 50).nextCursor(), 50);
        reader.runs(c, workspace,
                new RunSelection(List.of("failed"), null, List.of("none"), null, null, null, null, null, null,
                        null, "NONE", null),
                null, 50);
        reader.runs(c, workspace,
                new RunSelection(List.of("running", "paused"), null, List.of(), null, null, null, null, null, null,
                        "nothing",
                        null, null),
                null, 50);
        reader.runs(c, workspace,
                new RunSelection(List.of(), null, List.of(), null, null, null, null, null, null, null, null,
                        run),
                null, 50);
        reader.status(c, workspace, run);
        reader.states(c, workspace, run);
        reader.tasks(c, workspace, run, Detail.WHOLE, null, false, held.task().id(), 50);
        reader.task(c, workspace, held.task().id());
        reader.steps(c, workspace, run, Detail.WHOLE, null, false, held.id(), 50);
        reader.step(c, workspace, held.id());
        reader.stepAttempts(c, workspace, held.id(), 0, 50);
        reader.events(c, workspace, run, 3, 50);
        reader.eventsWithSteps(c, workspace, run, 3, 50);
        readEvents(c, run);
        reader.attempts(c, workspace, run);
        reader.agents(c, workspace, run);
        reader.artifacts(c, workspace, run);
        reader.logs(c, workspace, held.id(), 0, 50);
    }

    /** Ranges of events: their ids and numbers are in no index, those of their packs are. */
    private void readEvents(Connection c, UUID run) throws SQLException {
        long last = FeedReader.lastId(c);
        long from = last - 50_000;
        assertThat(DocumentReader.changed(c, from, last)).isNotEmpty();
        FeedReader.events(c, world.workspace, from, last);
        FeedReader.of(c, List.of(world.workspace), null, from, last);
        FeedReader.before(c, world.now);
        DocumentReader.steps(c, ended, 1, 0, 50, 20);
        DocumentReader.past(c, ended, 1);
        EventRetention retention = new EventRetention(() -> world.now);
        retention.ended(c, false, Duration.ofDays(30), 0, 1_000);
        retention.lines(c, run, 0, 1_000);
    }

    /** The pages that statements about the queue look at, from the search for work to the commit. */
    private long pagesOfAClaim() throws SQLException {
        for (int i = 0; i < 7; i++) {
            world.store.candidates(pool.connection(), new Search(null, List.of("echo"), 10, new WorkspaceRoundRobin()));
        }
        pool.take();
        var found = world.store
                .candidates(pool.connection(), new Search(null, List.of("echo"), 10, new WorkspaceRoundRobin()))
                .getFirst();
        committer.take();
        assertThat(world.send(new Command.Claim(found.runId(), found.taskId(), found.lane(), "worker", LEASE, TESTER)))
                .isInstanceOf(Reply.Claimed.class);
        return Stream.concat(pool.take().stream(), committer.take().stream())
                .filter(each -> each.sql().contains("work_queue")).mapToLong(Seen::pages).sum();
    }

    private UUID start() throws SQLException {
        UUID run = new UUID(7, ++ids);
        world.send(new Command.Create(run(run, world.workspace, RunPolicy.DEFAULT,
                task("a", List.of(), step("one"), step("two")),
                task("b", List.of("a"), step("one"), step("two"))), true, TESTER));
        return run;
    }

    private StepRow claim(UUID run) throws SQLException {
        for (TaskRow task : world.view(run).tasks()) {
            Reply reply = world.send(new Command.Claim(run, task.id(), 0, "worker", LEASE, TESTER));
            if (reply instanceof Reply.Claimed(StepAssignment assignment)) {
                return world.view(run).step(assignment.stepId());
            }
        }
        throw new AssertionError("nothing to claim in " + run);
    }
}
