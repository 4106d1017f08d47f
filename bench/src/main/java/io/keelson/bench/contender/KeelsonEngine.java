package io.keelson.bench.contender;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.server.app.Settings;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.dispatch.WorkerClaim;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.mission.plan.CatalogToolKnowledge;
import io.keelson.server.mission.plan.CheckedMission;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.MissionContext;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.mission.plan.NewPlans;
import io.keelson.server.mission.plan.PlannerAnswerValidator;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.plan.StoredPlans;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.money.Money;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import io.keelson.server.work.builtin.BuiltinTools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** Keelson's engine in this process, wired as {@code Server} wires it, without HTTP. */
final class KeelsonEngine implements Contender {
    private static final Actor WHO = Actor.human("bench");
    private static final int MAX_UNANSWERED = 500;

    private final Settings settings;
    private final Database database;
    private final Expressions expressions = new Expressions();
    private final OutboundClient outbound = new OutboundClient(false);
    private final ToolCatalog catalog;
    private final CatalogToolKnowledge knowledge;
    private final Missions bodies;
    private final Map<Work, CheckedMission> missions = new ConcurrentHashMap<>();
    private final List<UUID> preloaded = new ArrayList<>();
    private final Engine engine;

    KeelsonEngine(Place place) throws Exception {
        Path folder = Path.of(place.folder());
        bodies = new Missions(place);
        settings = Settings.load(Map.of("KEELSON_DATA_DIR", place.folder()), folder, folder);
        DatabaseUrl url = DatabaseUrl.parse(place.postgresUrl());
        database = new Database(url, DatabaseOptions.DEFAULTS);
        Migrations.migrate(url);
        Bootstrap.ensureWorkspace(database);
        new Money(database, DbClock.DATABASE).ledger().first(Bootstrap.DEFAULT_WORKSPACE, KeelsonServer.CREDITS);
        catalog = new ToolCatalog(BuiltinTools.all(ToolPolicy.of(List.of(folder)), expressions, outbound,
                Clock.systemUTC()));
        knowledge = new CatalogToolKnowledge(catalog, expressions, () -> Set.of(Missions.REMOTE_TOOL));
        engine = engine(place.option("executors", settings.execution().slots()));
    }

    private Engine engine(int executors) throws IOException {
        return new Engine(database, Store.of(DbClock.DATABASE, new StoredPlans(knowledge::timeout)::read,
                settings.artifacts().retention()), catalog,
                expressions, new SecretStore(database, SealingKey.fresh(), List.of()),
                new PlannerAnswerValidator(new NewPlans(knowledge, knowledge::timeout)),
                new LocalArtifactStore(settings.dataDir().resolve("artifacts")), Clock.systemUTC(),
                new Engine.Options(executors, settings.execution().lease(), "bench")).start(Map.of());
    }

    @Override
    public WorkloadResult load(Load load) throws Exception {
        CheckedMission mission = mission(load.work());
        return Callers.measure(load, Thread.ofVirtual().factory(), () -> requireCompleted(submit(mission).get()));
    }

    /** Accepted when the answer is there; the future is its end. */
    private CompletableFuture<RunState> submit(CheckedMission mission) throws Exception {
        UUID id = UuidCreator.getTimeOrderedEpoch();
        CompletableFuture<RunState> end = engine.ended(id).thenApply(Commands.RunEnd::state);
        engine.submit(new Command.Create(mission.newRun(id, Bootstrap.DEFAULT_WORKSPACE, "bench"), true, WHO)).get();
        return end;
    }

    /** Taken by a node that executes nothing: option {@code executors} is to be 0. */
    @Override
    public void preload(int count) throws Exception {
        CheckedMission mission = mission(Work.ONE_STEP);
        Semaphore unanswered = new Semaphore(MAX_UNANSWERED);
        for (int i = 0; i < count; i++) {
            UUID id = UuidCreator.getTimeOrderedEpoch();
            preloaded.add(id);
            unanswered.acquire();
            engine.submit(new Command.Create(mission.newRun(id, Bootstrap.DEFAULT_WORKSPACE, "bench"), true, WHO))
                    .whenComplete((reply, failure) -> unanswered.release());
        }
        unanswered.acquire(MAX_UNANSWERED);
    }

    @Override
    public WorkloadResult drain(double seconds) throws Exception {
        Tally tally = new Tally(preloaded.size());
        long start = System.nanoTime();
        try (Engine executing = engine(settings.execution().slots())) {
            for (UUID id : preloaded) {
                executing.ended(id).thenAccept(end -> {
                    requireCompleted(end.state());
                    tally.one();
                });
            }
            return tally.since(start, seconds);
        }
    }

    @Override
    public WorkloadResult claim(int claims, int each) throws Exception {
        long[] latencies = new long[claims];
        long start = System.nanoTime();
        for (int i = 0; i < claims; i++) {
            long before = System.nanoTime();
            int got = engine.remoteWork().claim(new WorkerClaim(Bootstrap.DEFAULT_WORKSPACE, "bench",
                    List.of("noop"), each, Duration.ZERO, null, null)).size();
            latencies[i] = System.nanoTime() - before;
            if (got != each) {
                throw new IllegalStateException("a claim gave " + got + " of " + each);
            }
        }
        return WorkloadResult.of(claims, System.nanoTime() - start, latencies);
    }

    private CheckedMission mission(Work work) {
        return missions.computeIfAbsent(work, each -> {
            MissionReader reader = new MissionReader(MissionContext.of(knowledge));
            byte[] json = bodies.of(each).toJson().toString().getBytes(StandardCharsets.UTF_8);
            return switch (reader.read(json, Format.JSON)) {
                case ReadResult.Ok<CheckedMission>(CheckedMission checked) -> checked;
                case ReadResult.Invalid<CheckedMission>(List<PlanProblem> problems) -> throw new IllegalStateException(
                        "the mission of " + each + " is refused: " + problems.getFirst());
            };
        });
    }

    private static void requireCompleted(@Nullable RunState state) {
        if (state != RunState.COMPLETED) {
            throw new IllegalStateException("a run ended " + state);
        }
    }

    @Override
    public void close() throws Exception {
        engine.close();
        outbound.close();
        database.close();
    }
}
