package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.Replans;
import io.keelson.server.artifact.LocalArtifactStore;
import io.keelson.server.auth.Bootstrap;
import io.keelson.server.db.Database;
import io.keelson.server.db.DbClock;
import io.keelson.server.db.TestDatabase;
import io.keelson.server.expr.Expressions;
import io.keelson.server.outbound.OutboundClient;
import io.keelson.server.plan.CatalogToolKnowledge;
import io.keelson.server.plan.Format;
import io.keelson.server.plan.Mission;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.plan.NewPlans;
import io.keelson.server.plan.Reading;
import io.keelson.server.plan.StoredPlans;
import io.keelson.server.tool.Tool;
import io.keelson.server.tool.ToolCatalog;
import io.keelson.server.tool.ToolPolicy;
import io.keelson.server.tool.builtin.BuiltinTools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;

/** Engines on one fresh database, and short words for what tests do with them. */
final class Nodes implements AutoCloseable {
    static final UUID WORKSPACE = Bootstrap.DEFAULT_WORKSPACE;
    static final Actor WHO = Actor.human("ann");

    final Database database;
    final Expressions expressions = new Expressions();
    final ToolCatalog catalog;
    private final Path folder;
    private final List<Engine> engines = new ArrayList<>();

    Nodes(Path folder, Tool... own) throws IOException {
        this(folder, TestDatabase.create(), own);
    }

    Nodes(Path folder, Database database, Tool... own) throws IOException {
        this.folder = folder;
        this.database = database;
        List<Tool> tools = new ArrayList<>(BuiltinTools.all(ToolPolicy.of(List.of(folder)), expressions,
                new OutboundClient(false), Clock.systemUTC()));
        tools.addAll(List.of(own));
        catalog = new ToolCatalog(tools);
        Bootstrap.ensureWorkspace(database);
    }

    Engine node(Duration lease) throws IOException {
        Engine engine = new Engine(database, store(), catalog, expressions, replans(),
                new LocalArtifactStore(folder.resolve("artifacts")), Clock.systemUTC(),
                new Engine.Options(64, lease, "test"));
        engines.add(engine);
        return engine;
    }

    Engine node() throws IOException {
        return node(Duration.ofSeconds(30));
    }

    private Replans replans() {
        return new Replans(new NewPlans(new CatalogToolKnowledge(catalog, expressions, Set::of), this::timeout));
    }

    private Duration timeout(String tool) {
        return catalog.find(tool).map(found -> found.spec().defaultTimeout()).orElse(Duration.ofSeconds(30));
    }

    static Store store() {
        return Store.of(DbClock.DATABASE, new StoredPlans(tool -> Duration.ofSeconds(30))::read);
    }

    UUID submit(Engine engine, String yaml, String... remoteTools) {
        NewRun run = run(yaml, remoteTools);
        assertThat(engine.submit(new Command.Create(run, true, WHO)).join()).isEqualTo(Reply.CHANGED);
        return run.id();
    }

    /** A run of that mission, not yet submitted. */
    NewRun run(String yaml, String... remoteTools) {
        MissionReader reader = new MissionReader(
                new CatalogToolKnowledge(catalog, expressions, () -> Set.of(remoteTools)),
                this::timeout);
        var reading = reader.read(yaml.getBytes(StandardCharsets.UTF_8), Format.YAML);
        assertThat(reading).as(reading.toString()).isInstanceOf(Reading.Done.class);
        Mission mission = ((Reading.Done<Mission>) reading).value();
        return mission.newRun(UuidCreator.getTimeOrderedEpoch(), WORKSPACE, "ann");
    }

    String state(UUID run) {
        return text("SELECT state FROM orchestration_runs WHERE id = '" + run + "'");
    }

    void awaitState(UUID run, String state) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(state(run)).isEqualTo(state));
    }

    String text(String sql) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                return row.next() ? row.getString(1) : null;
            }
        });
    }

    long count(String sql) {
        return Long.parseLong(text(sql));
    }

    /** What must hold in the database at rest (specification, reliability §2). */
    void assertSound() {
        assertThat(count("""
                SELECT count(*) FROM (SELECT run_id FROM orchestration_events GROUP BY run_id
                HAVING count(*) <> max(seq) OR min(seq) <> 1) gaps""")).as("I3: gapless").isZero();
        assertThat(count("""
                SELECT (SELECT count(*) FROM orchestration_events e LEFT JOIN orchestration_runs r ON r.id = e.run_id
                    LEFT JOIN orchestration_tasks t ON t.id = e.task_id
                    WHERE r.id IS NULL OR e.task_id IS NOT NULL AND t.id IS NULL)
                + (SELECT count(*) FROM orchestration_steps s LEFT JOIN orchestration_tasks t ON t.id = s.task_id
                    AND t.run_id = s.run_id WHERE t.id IS NULL)
                + (SELECT count(*) FROM work_results w LEFT JOIN orchestration_steps s ON s.id = w.step_id
                    WHERE s.id IS NULL)""")).as("nothing belongs to what is not there").isZero();
        assertThat(count("""
                SELECT count(*) FROM orchestration_runs r WHERE r.state_type = 'terminal' AND (
                EXISTS (SELECT 1 FROM orchestration_tasks t WHERE t.run_id = r.id AND t.state_type <> 'terminal')
                OR EXISTS (SELECT 1 FROM orchestration_steps s WHERE s.run_id = r.id AND s.state_type <> 'terminal')
                OR EXISTS (SELECT 1 FROM work_queue q WHERE q.run_id = r.id)
                OR EXISTS (SELECT 1 FROM escalation_tickets e WHERE e.run_id = r.id AND e.state = 'open')
                OR EXISTS (SELECT 1 FROM timers m WHERE m.run_id = r.id))""")).as("I5: no zombies").isZero();
        assertThat(count("""
                SELECT count(*) FROM orchestration_steps s WHERE s.state = 'completed' AND s.kind IN ('tool', 'turn', 'verify')
                AND (SELECT count(*) FROM work_results w WHERE w.step_id = s.id AND w.outcome <> 'failed') <> 1
                """)).as("I2: every completed step has one result").isZero();
        assertThat(
                count("""
                SELECT count(*) FROM orchestration_runs r WHERE r.attempt_number > 0 AND (
                r.tasks_completed <> (SELECT count(*) FROM orchestration_tasks t WHERE t.run_id = r.id
                    AND t.attempt = r.attempt_number AND NOT t.superseded AND t.state = 'completed')
                OR r.tasks_failed <> (SELECT count(*) FROM orchestration_tasks t WHERE t.run_id = r.id
                    AND t.attempt = r.attempt_number AND NOT t.superseded AND t.state = 'failed')
                OR r.task_count <> (SELECT count(*) FROM orchestration_tasks t WHERE t.run_id = r.id
                    AND t.attempt = r.attempt_number AND NOT t.superseded)
                OR (SELECT h.steps_completed FROM run_heads h WHERE h.run_id = r.id) <> (SELECT count(*) FROM orchestration_steps s JOIN orchestration_tasks t
                    ON t.id = s.task_id AND s.task_attempt = t.attempt_number
                    WHERE t.run_id = r.id AND t.attempt = r.attempt_number AND NOT t.superseded AND s.state = 'completed'))"""))
                .as("I8: counters").isZero();
    }

    @Override
    public void close() throws Exception {
        for (Engine engine : engines) {
            engine.close();
        }
        database.close();
    }
}
