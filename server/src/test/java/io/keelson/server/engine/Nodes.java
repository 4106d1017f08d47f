package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.Invariants;
import io.keelson.server.TestCredits;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.mission.plan.AutonomyDefault;
import io.keelson.server.mission.plan.CatalogToolKnowledge;
import io.keelson.server.mission.plan.CheckedMission;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.MissionContext;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.mission.plan.ModelRules;
import io.keelson.server.mission.plan.NewPlans;
import io.keelson.server.mission.plan.PlannerAnswerValidator;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.plan.StoredPlans;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import io.keelson.server.work.builtin.BuiltinTools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;

/** Engines on one fresh database, and short words for what tests do with them. */
public final class Nodes implements AutoCloseable {
    public static final UUID WORKSPACE = Bootstrap.DEFAULT_WORKSPACE;
    public static final Actor WHO = Actor.human("ann");

    public final Database database;
    final Expressions expressions = new Expressions();
    final ToolCatalog catalog;
    final SecretStore secrets;
    private final Path folder;
    private final List<Engine> engines = new ArrayList<>();

    public Nodes(Path folder, Tool... own) throws IOException {
        this(folder, TestDatabase.create(), own);
    }

    Nodes(Path folder, Database database, Tool... own) throws IOException {
        this(folder, database, List.of(own));
        TestCredits.grant(database, WORKSPACE);
    }

    private Nodes(Path folder, Database database, List<Tool> own) throws IOException {
        this.folder = folder;
        this.database = database;
        this.secrets = new SecretStore(database, SealingKey.fresh(), List.of());
        List<Tool> tools = new ArrayList<>(BuiltinTools.all(ToolPolicy.of(List.of(folder)), expressions,
                new OutboundClient(false), Clock.systemUTC()));
        tools.addAll(own);
        catalog = new ToolCatalog(tools);
        Bootstrap.ensureWorkspace(database);
    }

    /** With a workspace that has no credits. */
    public static Nodes poor(Path folder) throws IOException {
        return new Nodes(folder, TestDatabase.create(), List.of());
    }

    Engine node(Duration lease) throws IOException {
        return node(new Engine.Options(64, lease, "test"));
    }

    Engine node(Engine.Chains chains) throws IOException {
        return node(chains, 64);
    }

    Engine node(Engine.Chains chains, int slots) throws IOException {
        return node(new Engine.Options(Map.of(SlotKind.COMPUTING, slots), Duration.ofSeconds(30), "test", chains,
                Duration.ofDays(30), 10L << 30, List.of(), Tracing.NONE));
    }

    Engine node(Map<SlotKind, Integer> slots) throws IOException {
        return node(new Engine.Options(slots, Duration.ofSeconds(30), "test", Engine.Chains.ON, Duration.ofDays(30),
                10L << 30,
                List.of(), Tracing.NONE));
    }

    private Engine node(Engine.Options options) throws IOException {
        Engine engine = new Engine(database, store(), catalog, expressions, secrets, replans(),
                new LocalArtifactStore(folder.resolve("artifacts")), Clock.systemUTC(), options).start(Map.of());
        engines.add(engine);
        return engine;
    }

    public Engine node() throws IOException {
        return node(Duration.ofSeconds(30));
    }

    private PlannerAnswerValidator replans() {
        return new PlannerAnswerValidator(
                new NewPlans(new CatalogToolKnowledge(catalog, expressions, Set::of), this::timeout));
    }

    private Duration timeout(String tool) {
        return catalog.find(tool).map(found -> found.spec().defaultTimeout()).orElse(Duration.ofSeconds(30));
    }

    public static Store store() {
        return store(DbClock.DATABASE);
    }

    /** The time of the machine: commits need an estimate that is near the database's clock. */
    public static Instant now() {
        return Clock.systemUTC().instant();
    }

    /** A store for which it is always the same time, so that no commit on a slow machine is of another time. */
    public static Store storeAt(Instant now) {
        return store(() -> now);
    }

    private static Store store(DbClock clock) {
        return Store.of(clock, new StoredPlans(tool -> Duration.ofSeconds(30))::read, Duration.ofDays(30));
    }

    public UUID submit(Engine engine, String yaml, String... remoteTools) {
        NewRun run = run(yaml, remoteTools);
        assertThat(engine.submit(new Command.Create(run, true, WHO)).join()).isEqualTo(Reply.CHANGED);
        return run.id();
    }

    /** A run of that mission, not yet submitted. */
    public NewRun run(String yaml, String... remoteTools) {
        return run(yaml, WORKSPACE, remoteTools);
    }

    /** The same of another workspace. */
    public NewRun run(String yaml, UUID workspace, String... remoteTools) {
        MissionReader reader = new MissionReader(new MissionContext(
                new CatalogToolKnowledge(catalog, expressions, () -> Set.of(remoteTools)), this::timeout,
                ModelRules.UNKNOWN, null, () -> AutonomyDefault.PRODUCT));
        var result = reader.read(yaml.getBytes(StandardCharsets.UTF_8), Format.YAML);
        assertThat(result).as(result.toString()).isInstanceOf(ReadResult.Ok.class);
        CheckedMission mission = ((ReadResult.Ok<CheckedMission>) result).value();
        return mission.newRun(UuidCreator.getTimeOrderedEpoch(), workspace, "ann");
    }

    public String state(UUID run) {
        return text("SELECT state FROM orchestration_runs WHERE id = '" + run + "'");
    }

    public void awaitState(UUID run, String state) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(state(run)).isEqualTo(state));
    }

    /** Waits for any end, or a stop for a person. */
    void awaitEnd(UUID run) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(2))
                .until(() -> !Set.of("pending", "planning", "running").contains(state(run)));
    }

    String text(String sql) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                return row.next() ? row.getString(1) : null;
            }
        });
    }

    public long count(String sql) {
        return Long.parseLong(text(sql));
    }

    /** What must hold in the database at rest. */
    public void assertSound() {
        Invariants.hold(database);
    }

    @Override
    public void close() throws Exception {
        for (Engine engine : engines) {
            engine.close();
        }
        database.close();
    }
}
