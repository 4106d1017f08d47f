package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.db.TestPostgres;
import io.keelson.server.engine.store.SeenPlans.Seen;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Deleting a small workspace costs the same, regardless of other workspaces' rows. */
class PurgePlansTest {
    private static final int OTHERS = 3_000;
    private static final int RUNS = 20;
    private static final double MAX_ROWS = 700;
    private static final Actor TESTER = Actor.human("tester");

    private World world;
    private SeenPlans pool;
    private UUID gone;

    @BeforeEach
    void fill() throws SQLException {
        var owned = TestPostgres.server().url(TestDatabase.createUrlOfPlainOwner().database());
        world = new World(new Database(owned, DatabaseOptions.DEFAULTS.withPoolSize(4)), real -> real);
        UUID ended = ended();
        gone = RunFixtures.workspace(world.database);
        try (Connection c = world.database.dedicatedConnection()) {
            RunFixtures.execute(c, "alter table orchestration_runs disable trigger user");
            // The first copies are of the run as it is, in the workspace that is to be emptied.
            BigTables.copy(c, ended, 1, RUNS);
            for (String table : List.of("orchestration_runs", "orchestration_tasks", "task_steps",
                    "run_agents")) {
                RunFixtures.execute(c, "update " + table + " set workspace_id = '" + gone + "' where "
                        + (table.equals("orchestration_runs") ? "id" : "run_id") + " <> '" + ended + "'");
            }
            BigTables.copy(c, ended, RUNS + 1, RUNS + OTHERS);
            RunFixtures.execute(c, "alter table orchestration_runs enable trigger user");
            whatElseThereIs(c);
            RunFixtures.execute(c, "update workspaces set closed_at = now(), purge_asked_at = now() where id = '"
                    + gone + "'");
        }
        pool = new SeenPlans(world.database.dedicatedConnection());
    }

    /** Some rows in the workspace, many elsewhere, in tables that have no index by workspace or that others refer to. */
    private void whatElseThereIs(Connection c) throws SQLException {
        RunFixtures.execute(c, "set session_replication_role = replica");
        String both = "(select '%s'::uuid as ws, n from generate_series(1, 20) n union all"
                .formatted(gone) + " select gen_random_uuid(), n from generate_series(1, " + OTHERS + ") n) x";
        for (String sql : List.of("""
                insert into step_logs (step_id, lease_epoch, line, attempt, message, at)
                select id, 1, n, 1, 'x', now() from orchestration_steps, generate_series(1, 3) n""", """
                insert into step_progress (step_id, lease_epoch, updated_at)
                select id, 1, now() from orchestration_steps""", """
                insert into board_tasks (workspace_id, title, status, source_type, source_id)
                select workspace_id, title, 'done', 'orchestration', id::text from orchestration_runs
                on conflict do nothing""", """
                insert into timers (kind, subject, run_id, due_at)
                select 'step_retry', gen_random_uuid(), id, now() from orchestration_runs""", """
                insert into agents (workspace_id, slug, name) select ws, 'a' || n, 'a' from %s""".formatted(both), """
                insert into principals (id, workspace_id, kind, name)
                select md5(ws::text || n)::uuid, ws, 'person', 'p' || n from %s""".formatted(both), """
                insert into api_keys (workspace_id, name, prefix, key_hash, principal_id)
                select workspace_id, name, 'x', sha256(id::text::bytea), id from principals""", """
                insert into inbox_assignments (subject, workspace_id, run_id, since, assignee, assigned_at)
                select gen_random_uuid(), ws, gen_random_uuid(), now(), 'p' || n, now() from %s""".formatted(both), """
                insert into artifact_uploads (id, workspace_id, step_id, lease_epoch, name, content_type, sha256,
                    size_bytes, storage_key, created_at)
                select gen_random_uuid(), ws, gen_random_uuid(), 1, 'n', 'x', repeat('0', 64), 1, 'k' || n, now()
                  from %s""".formatted(both), """
                insert into webhook_endpoints (id, workspace_id, url, events, key_id, sealed, from_id)
                select md5(ws::text)::uuid, ws, 'http://x', '{*}', 'x', 'x', 0 from (select distinct ws from %s)
                """.formatted(both), """
                insert into webhook_deliveries (id, workspace_id, endpoint_id, position, type, body)
                select gen_random_uuid(), workspace_id, id, n, 'x', '{}' from webhook_endpoints, generate_series(1, 2) n
                """, """
                insert into schedules (id, workspace_id, name, mission, cron, time_zone, overlap, catch_up,
                    catch_up_window_seconds, jitter_seconds, created_by, created_at, updated_at)
                select md5(ws::text)::uuid, ws, 's', '{}', 'x', 'UTC', 'allow', 'skip', 1, 0, 'x', now(), now()
                  from (select distinct ws from %s)""".formatted(both), """
                insert into schedule_ticks (schedule_id, scheduled_for, kind, workspace_id, run_id, fire_at, state)
                select id, now(), 'cron', workspace_id, gen_random_uuid(), now(), 'due' from schedules""", """
                insert into workflow_recipes (recipe_id, workspace_id, name)
                select md5(ws::text)::uuid, ws, 'r' from (select distinct ws from %s)""".formatted(both), """
                insert into recipe_versions (recipe_id, version, workspace_id, mission, created_by, created_at)
                select recipe_id, 1, workspace_id, '{}', 'x', now() from workflow_recipes""")) {
            RunFixtures.execute(c, sql);
        }
        RunFixtures.execute(c, "set session_replication_role = origin");
    }

    private UUID ended() throws SQLException {
        UUID run = UUID.randomUUID();
        world.send(new Command.Create(run(run, world.workspace, RunPolicy.DEFAULT,
                task("a", List.of(), step("one"), step("two")), task("b", List.of("a"), step("one"))), true, TESTER));
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

    @AfterEach
    void close() throws SQLException {
        pool.connection().close();
        world.close();
    }

    /** Also with plans made while the tables were empty: they may not have been analyzed since. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingIsLookedForAmongAllRows(boolean analyzed) throws SQLException {
        Connection c = pool.connection();
        if (analyzed) {
            RunFixtures.execute(c, "analyze");
        }
        RunFixtures.execute(c, "set role " + TestDatabase.PLAIN_OWNER);
        pool.take();
        int portions = 0;
        for (int gone = 1; gone > 0; portions++) {
            try (PreparedStatement s = c.prepareStatement("select keelson_purge_workspace(?, 50)")) {
                s.setObject(1, this.gone);
                try (ResultSet row = s.executeQuery()) {
                    row.next();
                    gone = row.getInt(1);
                }
            }
        }
        RunFixtures.execute(c, "set role none");
        assertThat(portions).isGreaterThan(10);
        List<Seen> seen = pool.take();
        assertThat(seen).hasSizeGreaterThan(100);
        assertThat(seen.stream().flatMap(each -> each.nodes().stream().filter(PurgePlansTest::dear)
                .map(node -> each.sql() + "\nby " + node)).distinct()).isEmpty();
        assertThat(world.query("select count(*) from orchestration_runs")).containsExactly(String.valueOf(OTHERS + 1));
    }

    private static boolean dear(JsonNode node) {
        String table = node.path("Relation Name").asString("");
        return !table.isEmpty() && !table.startsWith("pg_") && rowsRead(node) > MAX_ROWS;
    }

    private static double rowsRead(JsonNode node) {
        double rows = node.path("Actual Rows").asDouble() + node.path("Rows Removed by Filter").asDouble()
                + node.path("Rows Removed by Index Recheck").asDouble();
        return rows * node.path("Actual Loops").asDouble();
    }
}
