package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.db.TestPostgres;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.FeedWatermark;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** The statements of docs/operate/sql-readers.md, executed as a role with the grants of that page, on a table with many packs. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SqlReadersTest {

    /** The database role that owns the installation. */
    enum Owner {
        SUPERUSER, PLAIN_OWNER
    }

    private static final int RUNS = 100;
    private static final int PACKS = 40_000;
    private static final Set<String> BIG =
            Set.of("run_event_packs", "orchestration_tasks", "task_steps", "step_results");
    private static final Actor TESTER = Actor.human("tester");
    private static final UUID WORKSPACE = UUID.fromString("00000000-0000-4000-8000-000000000001");
    private static final String RUN = "00000000-0000-4000-9000-000000000007";
    private static final String TASK = "00000000-0000-4000-a000-000000000007";
    private static final List<String> PAGE = blocks();

    /** One in a thousand packs has the failure of a task, in its second event. */
    private static final String FILL = """
            insert into workspaces (id, name) values ('%1$s', 'w');
            insert into orchestration_runs (id, workspace_id, title, goal, created_by)
            select ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid, '%1$s', 't', 'g', 'b'
              from generate_series(1, %2$d) n;
            insert into run_event_packs (run_id, first_seq, created_at, body)
            select ('00000000-0000-4000-9000-' || lpad((1 + n %% %2$d)::text, 12, '0'))::uuid, 1 + 2 * n,
                now() - (%3$d - n) * interval '2 minutes',
                case when n %% 1000 = 7 then '[{"e": "step_started", "p": {}}, {"e": "task_failed", "p": {}, "agent": "",
                    "task": "00000000-0000-4000-a000-' || lpad((n / 1000)::text, 12, '0') || '"}]'
                else '[{"e": "step_started", "p": {}}, {"e": "step_completed", "p": {}}]' end::json
              from generate_series(1, %3$d) n""".formatted(WORKSPACE, RUNS, PACKS);

    private final Map<Owner, Database> installations = new EnumMap<>(Owner.class);

    @BeforeAll
    void fill() throws SQLException {
        installations.put(Owner.SUPERUSER, open(TestDatabase.createUrl()));
        installations.put(Owner.PLAIN_OWNER, open(TestDatabase.createUrlOfPlainOwner()));
        for (Database each : installations.values()) {
            execute(each, FILL);
            execute(each, "vacuum analyze run_event_packs");
            settle(each, new FeedWatermark());
        }
    }

    private static Database open(DatabaseUrl url) {
        return new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(4));
    }

    @AfterAll
    void close() {
        installations.values().forEach(Database::close);
    }

    @ParameterizedTest
    @EnumSource
    void theFeedReadsByThePrimaryKeyAtAnyPosition(Owner owner) throws SQLException {
        try (Connection reader = reader(owner, PAGE.getFirst())) {
            for (long after : List.of(0L, PACKS * 500L, PACKS * 1000L - 60_000)) {
                String feed = bound(block("from orchestration_event_feed"), after);
                List<String> ids = RunFixtures.query(reader, "select id from (" + feed + ") f");
                assertThat(ids).hasSize(100).doesNotHaveDuplicates()
                        .allMatch(id -> Long.parseLong(id) > after && Long.parseLong(id) <= after + 51_000);
                assertThat(rowsRead(reader, feed)).as("packs read after %d", after).isBetween(50L, 300L);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theFeedHasEveryEventOnce(Owner owner) throws SQLException {
        List<String> expected;
        List<String> found = new ArrayList<>();
        try (Connection reader = reader(owner, PAGE.getFirst())) {
            expected = RunFixtures.query(reader, "select id from orchestration_events order by id");
            String after = "0";
            List<String> page;
            do {
                page = RunFixtures.query(reader, "select id from ("
                        + bound(block("from orchestration_event_feed"), Long.parseLong(after)).replace("limit 100",
                                "limit 9999")
                        + ") f");
                found.addAll(page);
                after = found.getLast();
            } while (!page.isEmpty());
        }
        assertThat(found).isEqualTo(expected).hasSize(2 * PACKS);
    }

    /** A transaction that took an id and has not committed holds the feed up, so that no event appears behind a reader. */
    @Test
    void theFeedWaitsForAnIdThatIsNotCommitted() throws SQLException {
        String pack = """
                insert into run_event_packs (run_id, first_seq, body)
                values (gen_random_uuid(), 1, '[{"e": "run_created", "p": {}}]')""";
        String feed = "select count(*) from orchestration_event_feed";
        try (Database database = TestDatabase.create(); Connection slow = database.dedicatedConnection()) {
            FeedWatermark server = new FeedWatermark();
            slow.setAutoCommit(false);
            RunFixtures.execute(slow, pack);
            execute(database, pack);
            for (int looks = 0; looks < 3; looks++) {
                database.withConnection(server::publish);
            }
            assertThat(query(database, feed)).containsExactly("0");
            assertThat(query(database, "select count(*) from orchestration_events")).containsExactly("1");

            slow.commit();
            settle(database, server);
            assertThat(query(database, feed)).containsExactly("2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void selectOnAViewOfThePageSuffices(Owner owner) throws SQLException {
        for (String view : List.of("orchestration_event_feed", "orchestration_events",
                "orchestration_events_archive")) {
            try (Connection reader = reader(owner, "grant select on " + view + " to telemetry;")) {
                assertThat(RunFixtures.query(reader, "select id from " + view + " limit 1"))
                        .hasSizeLessThanOrEqualTo(1);
                assertThatThrownBy(() -> RunFixtures.query(reader, "select id from run_event_packs"))
                        .hasMessageContaining("permission denied for table run_event_packs");
            }
        }
    }

    /** Each statement alone grants all that reading what it names needs. */
    @ParameterizedTest
    @EnumSource
    void eachGrantOfThePageSuffices(Owner owner) throws SQLException {
        List<String> grants = PAGE.stream().flatMap(String::lines).filter(line -> line.startsWith("grant select"))
                .filter(line -> !line.contains("_search")).toList();
        assertThat(grants).hasSize(7);
        for (String grant : grants) {
            try (Connection reader = reader(owner, grant)) {
                for (String name : grant.replaceAll("grant select on | to telemetry;", "").split(", ")) {
                    RunFixtures.query(reader, "select * from " + name + " limit 1");
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theQueriesOfThePageReadByIndex(Owner owner) throws SQLException {
        try (Connection reader = reader(owner, String.join("\n", PAGE.stream().filter(block -> block.startsWith("grant")
                || block.startsWith("create role")).filter(block -> !block.contains("_search")).toList()))) {
            List<String> queries = PAGE.stream().filter(block -> block.matches("(?s)(select|with) .*"))
                    .filter(block -> !block.contains("_search")).toList();
            assertThat(queries).hasSize(8);
            for (String query : queries) {
                assertThat(rowsRead(reader, bound(query, 0))).as(query).isLessThan(5_000);
            }
        }
    }

    @Test
    void stepsAndResultsOfARunAreFoundByItsTasks() throws SQLException {
        try (World world = new World(TestDatabase.create(), real -> real);
                Connection c = world.database.dedicatedConnection()) {
            UUID run = ended(world);
            BigTables.copy(c, run, 1, 2_000);
            RunFixtures.execute(c, "analyze");
            for (String query : List.of(block("join orchestration_steps s"), block("from work_results r"))) {
                String bound = query.replace(":'run'", "'" + run + "'").replaceAll(";$", "");
                assertThat(RunFixtures.query(c, bound)).as(query).hasSize(3);
                assertThat(rowsRead(c, bound)).as(query).isLessThan(100);
            }
        }
    }

    private static UUID ended(World world) throws SQLException {
        UUID run = UUID.randomUUID();
        world.send(new Command.Create(RunFixtures.run(run, world.workspace, RunPolicy.DEFAULT,
                RunFixtures.task("a", List.of(), RunFixtures.step("one"), RunFixtures.step("two")),
                RunFixtures.task("b", List.of("a"), RunFixtures.step("one"))), true, TESTER));
        while (!world.view(run).run().state().terminal()) {
            for (var task : world.view(run).tasks()) {
                if (world.send(new Command.Claim(run, task.id(), 0, "worker", Duration.ofSeconds(30),
                        TESTER)) instanceof Reply.Claimed(var assignment)) {
                    world.send(new Command.Complete(run, assignment.stepId(), 1, Result.of("{}"), TESTER));
                }
            }
        }
        return run;
    }

    /** Connections of requests see the rows of one workspace, which the owner of these views may be above. */
    @ParameterizedTest
    @EnumSource
    void requestsDoNotReadEventsOfOthersByTheseViews(Owner owner) {
        Database database = installations.get(owner);
        for (String view : List.of("orchestration_event_feed", "orchestration_events",
                "orchestration_events_archive")) {
            String sql = "select count(*) from " + view;
            if (owner == Owner.SUPERUSER) {
                assertThatThrownBy(() -> Tenancy.within(UUID.randomUUID(), () -> query(database, sql)))
                        .hasMessageContaining("permission denied for view " + view);
            } else {
                assertThat(Tenancy.within(UUID.randomUUID(), () -> query(database, sql))).containsExactly("0");
            }
        }
    }

    /** Under a plain owner, row-level security is checked before conditions that are not leakproof. */
    @ParameterizedTest
    @EnumSource
    void theOptionalIndexesFindEventsByTypeAndTask(Owner owner) throws Exception {
        Database database = installations.get(owner);
        try (Connection c = owner(owner)) {
            optionalIndexes(c);
            optionalIndexes(c);
            RunFixtures.execute(c, "vacuum analyze run_event_packs");
        }
        String grant = block("on orchestration_event_search to");
        try (Connection reader = reader(owner, grant)) {
            List<String> queries = PAGE.stream().filter(block -> block.startsWith("select"))
                    .filter(block -> block.contains("_search")).toList();
            assertThat(queries).hasSize(2);
            for (String query : queries) {
                String of = query.contains("task_id") ? "task_id = '" + TASK + "'" : "event_type = 'task_failed'";
                assertThat(RunFixtures.query(reader, "select id from (" + bound(query, 0) + ") f order by 1"))
                        .isEqualTo(query(database, "select id from orchestration_events where " + of + " order by 1"))
                        .isNotEmpty();
                if (owner == Owner.SUPERUSER) {
                    assertThat(rowsRead(reader, bound(query, 0))).as(query).isLessThan(1_000);
                }
            }
        }
    }

    @Test
    void anOptionalIndexThatWasInterruptedIsBuiltAgain() throws Exception {
        try (Database database = TestDatabase.create(); Connection c = database.dedicatedConnection()) {
            optionalIndexes(c);
            RunFixtures.execute(c,
                    "update pg_index set indisvalid = false where indexrelid = 'ix_orch_events_type'::regclass");
            optionalIndexes(c);
            assertThat(RunFixtures.query(c, "select relname from pg_index join pg_class c on c.oid = indexrelid"
                    + " where not indisvalid")).isEmpty();
            assertThat(RunFixtures.query(c, "select count(*) from pg_class where relname in ('ix_orch_events_type',"
                    + " 'ix_orch_events_task', 'ix_orch_tasks_ws_state')")).containsExactly("3");
        }
    }

    /** As psql does: statement by statement, those before {@code \gexec} for the statements that they return. */
    private static void optionalIndexes(Connection c) throws Exception {
        for (String part : Files.readString(Path.of("..", "scripts", "reader-indexes.sql")).split("\n\n")) {
            String statement = part.replaceAll("(?m)^--.*\n?", "").strip();
            if (statement.endsWith("\\gexec")) {
                for (String made : RunFixtures.query(c, statement.replace("\\gexec", ""))) {
                    RunFixtures.execute(c, made);
                }
            } else if (!statement.isEmpty()) {
                RunFixtures.execute(c, statement);
            }
        }
    }

    /** Rows of large tables that a query looks at; a sequential scan looks at all. */
    private static long rowsRead(Connection c, String sql) throws SQLException {
        JsonNode plan = Json.MAPPER.readTree(
                String.join("", RunFixtures.query(c, "explain (analyze, format json) " + sql)));
        return rows(plan.get(0).get("Plan"));
    }

    private static long rows(JsonNode node) {
        long rows = 0;
        if (BIG.contains(node.path("Relation Name").asString(""))) {
            rows = Math.round((node.path("Actual Rows").asDouble() + node.path("Rows Removed by Filter").asDouble()
                    + node.path("Rows Removed by Index Recheck").asDouble()) * node.path("Actual Loops").asDouble());
        }
        return rows + node.path("Plans").valueStream().mapToLong(SqlReadersTest::rows).sum();
    }

    private static String bound(String query, long after) {
        return query.replace(":'run'", "'" + RUN + "'").replace(":'workspace'", "'" + WORKSPACE + "'")
                .replace(":'task'", "'" + TASK + "'").replace(":after", String.valueOf(after)).replaceAll(";$", "");
    }

    /** The only one that contains the text. */
    private static String block(String text) {
        return PAGE.stream().filter(block -> block.contains(text)).findFirst().orElseThrow();
    }

    private static List<String> blocks() {
        try {
            return Pattern.compile("```sql\n(.*?)\n```", Pattern.DOTALL)
                    .matcher(Files.readString(Path.of("..", "docs", "operate", "sql-readers.md"))).results()
                    .map(found -> found.group(1)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Connection owner(Owner owner) throws SQLException {
        return installations.get(owner).dedicatedConnection();
    }

    /** A connection of a new role with these grants, which the page calls telemetry. */
    private Connection reader(Owner owner, String grants) throws SQLException {
        String name = "reader_" + UUID.randomUUID().toString().replace("-", "");
        DatabaseUrl url = installations.get(owner).url();
        try (Connection c = TestPostgres.server().url(url.database()).connect()) {
            RunFixtures.execute(c, "create role " + name + " login password '" + name + "'");
            RunFixtures.execute(c, "grant usage on schema public to " + name);
            RunFixtures.execute(c, grants.replaceAll("create role \\w+ login;", "").replace("telemetry", name));
        }
        return new DatabaseUrl(url.hosts(), url.database(), name, name, url.parameters()).connect();
    }

    /** Transactions of other databases hold a look up, too. */
    private static void settle(Database database, FeedWatermark server) {
        long last = Long.parseLong(query(database, "select max(id) from run_event_packs").getFirst());
        Awaitility.await().until(() -> database.withConnection(server::publish) >= last);
    }

    private static void execute(Database database, String sql) throws SQLException {
        try (Connection c = database.dedicatedConnection()) {
            RunFixtures.execute(c, sql);
        }
    }

    private static List<String> query(Database database, String sql) {
        return database.withConnection(c -> RunFixtures.query(c, sql));
    }
}
