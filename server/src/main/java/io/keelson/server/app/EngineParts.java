package io.keelson.server.app;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.server.annex.effect.EffectModule;
import io.keelson.server.annex.mcp.McpModule;
import io.keelson.server.annex.mcp.gateway.ToolGateway;
import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.wiring.ModelModule;
import io.keelson.server.annex.notice.NoticeModule;
import io.keelson.server.annex.oidc.OidcModule;
import io.keelson.server.annex.rabbitmq.RabbitModule;
import io.keelson.server.annex.rabbitmq.RabbitSettings;
import io.keelson.server.annex.trigger.TriggerModule;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.inbox.InboxKind;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.compute.UnbudgetedWork;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.expr.ExpressionLimits;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.dispatch.WorkerToolRegistry;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.engine.store.read.LongResults;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.mission.plan.AutonomyDefault;
import io.keelson.server.mission.plan.CatalogToolKnowledge;
import io.keelson.server.mission.plan.MissionContext;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.mission.plan.ModelRules;
import io.keelson.server.mission.plan.NewPlans;
import io.keelson.server.mission.plan.PlannerAnswerValidator;
import io.keelson.server.mission.plan.StoredPlans;
import io.keelson.server.mission.plan.UndoMissions;
import io.keelson.server.mission.recipe.RecipeStore;
import io.keelson.server.mission.roster.AgentCandidates;
import io.keelson.server.mission.roster.Roster;
import io.keelson.server.mission.submission.PlanEdits;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.mission.submission.RunUndos;
import io.keelson.server.mission.submission.StartedRuns;
import io.keelson.server.mission.submission.SubmissionServices;
import io.keelson.server.tenant.workspace.ApprovalRules;
import io.keelson.server.tenant.workspace.WorkspaceRules;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import io.keelson.server.work.builtin.ArtifactRead;
import io.keelson.server.work.builtin.BuiltinTools;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The engine, not yet started, and its parts.
 *
 * @param modules the annexes
 * @param missions reads missions with the tools and agents of a workspace
 * @param models the rules of a workspace about models
 * @param questions the answers to questions that are of no run
 * @param notices messages for people
 */
record EngineParts(Engine engine, Store store, ToolCatalog tools, OutboundClient outbound, List<ToolModule> modules,
        Computation computation, Function<UUID, MissionReader> missions, Roster roster, RecipeStore recipes,
        Function<UUID, ModelRules> models, Map<InboxKind, InboxDecisions.WorkspaceQuestions> questions,
        SubmissionServices submissions, NoticeModule notices) {

    /**
     * @param nanos a steady clock in nanoseconds, for the pauses that models ask for
     * @param programs variables of started programs that use models
     * @throws StartupException when the settings of a module cannot be used
     */
    static EngineParts of(Settings settings, Models models, Storage storage, Observation observation, Clock clock,
            LongSupplier nanos, BuiltinTools.ProgramVariables programs, Closer closer) throws StartupException {
        Database database = storage.database();
        Computation computation = computation("compute", settings.execution().runComputation(), closer);
        Expressions expressions = new Expressions(ExpressionLimits.DEFAULT, computation);
        OutboundClient outbound = closer.register(new OutboundClient(settings.tools().privateAddresses()));
        EffectModule effects = closer.register(new EffectModule(settings.commands(), database, outbound));
        WorkerToolRegistry served = new WorkerToolRegistry(database, new WorkerRegistry(DbClock.DATABASE), nanos);
        WorkspaceRules rules = new WorkspaceRules(new WorkspaceStore(database));
        McpModule mcp = closer.register(new McpModule(settings.tools().mcpServers(), database, outbound,
                storage.secrets(), KeelsonVersion.current().number(),
                new ToolGateway.Sources(served::announced, rules::tools, observation.metrics().programs(),
                        settings.tools().parkAfter())));
        Roster roster = new Roster(database);
        AgentCandidates agents = new AgentCandidates(roster, database, storage.runs(), storage.money());
        RecipeStore recipes = new RecipeStore();
        ModelModule calls = closer.register(new ModelModule(models,
                new ModelModule.Sources(database, storage.money().prices(), recipes, agents::of, served::announced,
                        rules::tools),
                computation, observation.models(), clock, nanos));
        List<ToolModule> modules = List.of(effects, mcp, calls);
        ToolCatalog tools = withModules(modules, new ToolCatalog(
                BuiltinTools.all(ToolFolders.policy(settings, models.keyFiles(), new WorkspaceStore(database)),
                        expressions, computation("files", Computation.UNLIMITED, closer), outbound, clock, programs))
                .with(List.of(new ArtifactRead((workspace, task, step, from, length) -> database
                        .withConnection(c -> LongResults.part(c, workspace, task, step, from, length))
                        .map(part -> new ArtifactRead.Part(part.text(), part.chars()))))));
        CatalogToolKnowledge knowledge = new CatalogToolKnowledge(tools, expressions, Set::of);
        Function<UUID, ToolKnowledge> known = workspace -> new CatalogToolKnowledge(tools.in(workspace), expressions,
                served.check(workspace), () -> served.in(workspace), () -> rules.tools(workspace));
        Function<UUID, MissionReader> missions = workspace -> new MissionReader(
                new MissionContext(known.apply(workspace), knowledge::timeout, calls.rules(workspace),
                        () -> agents.of(workspace),
                        () -> AutonomyDefault.ofWorkspace(rules.autonomy(workspace))),
                work -> UnbudgetedWork.run(computation, workspace, work::get));
        RecipeMissions recipeMissions = new RecipeMissions(database, recipes, missions);
        Settings.Artifacts artifacts = settings.artifacts();
        NewPlans plans = new NewPlans(known, knowledge::timeout, calls::rules, agents::of);
        Predicate<String> own = tool -> tools.find(tool).isPresent() || tool.startsWith(ToolSpec.MCP);
        Store store = Store.of(DbClock.DATABASE, new StoredPlans(knowledge::timeout)::read, artifacts.retention(),
                settings.rabbit() == null ? tool -> false : own.negate());
        Map<SlotKind, Integer> slots = Map.of(SlotKind.COMPUTING, settings.execution().slots(), SlotKind.WAITING,
                settings.execution().waitingSlots(), SlotKind.MODEL, settings.execution().modelCalls());
        Engine engine = closer.register(new Engine(database, store, tools, expressions, storage.secrets(),
                new PlannerAnswerValidator(plans, computation),
                new StartedRuns(recipeMissions, agents::of, observation.tracing()),
                new RunUndos(database, store.scopes(), tools, served::announced, new UndoMissions(knowledge::timeout),
                        observation.tracing()),
                storage.artifacts(), clock,
                new Engine.Options(slots, settings.execution().lease(),
                        KeelsonVersion.current().toString(), settings.execution().chains(), artifacts.retention(),
                        artifacts.maxBytesOfRun(),
                        observation.engine(), observation.tracing())));
        observation.metrics().history(engine.history()::wentBack);
        observation.metrics().executors(engine::busy, slots);
        observation.metrics().missions(recipeMissions.cache()::hits, recipeMissions.cache()::misses);
        SubmissionServices submissions = SubmissionServices.of(recipeMissions, database, storage.runs(),
                storage.money(), engine, new PlanEdits(database, store.scopes(), plans),
                new ApprovalRules(database, new WorkspaceStore(database), settings.http().twoPeople(),
                        settings.http().fourEyes()));
        TriggerModule triggers = closer.register(new TriggerModule(new TriggerModule.Parts(database,
                storage.secrets(), storage.runs(), store.keys(), engine.history(), submissions, expressions,
                engine, computation, observation.metrics().triggers(), clock, UuidCreator::getTimeOrderedEpoch,
                settings.execution().lease(), settings.triggerDays())));
        OidcModule oidc = closer.register(
                new OidcModule(settings.oidc(), database, storage.auth(), storage.secrets(), settings.services(), clock,
                        nanos));
        NoticeModule notices = closer.register(new NoticeModule(new NoticeModule.Parts(database, storage.auth(),
                storage.secrets(), storage.endpoints(), storage.deliveries(),
                UuidCreator::getTimeOrderedEpoch, settings.oidc() != null, settings.http().publicUrl(),
                settings.notifications().linkTime(), clock)));
        List<ToolModule> all = new ArrayList<>(List.of(effects, mcp, calls, triggers, oidc, notices));
        RabbitSettings rabbit = settings.rabbit();
        if (rabbit != null) {
            all.add(closer.register(new RabbitModule(database,
                    tools.all().stream().map(tool -> tool.spec().name()).toList(), engine.workersWork(),
                    rabbit, observation.metrics().rabbit())));
        }
        return new EngineParts(engine, store, tools, outbound, List.copyOf(all), computation,
                missions, roster, recipes, calls::rules,
                Map.of(InboxKind.TOOL_CHANGE, mcp, InboxKind.DEAD_LETTER, triggers), submissions, notices);
    }

    private static ToolCatalog withModules(List<ToolModule> modules, ToolCatalog builtIn) throws StartupException {
        ToolCatalog tools = builtIn;
        for (ToolModule module : modules) {
            tools = module.tools(tools);
        }
        return tools;
    }

    private static Computation computation(String name, Duration budget, Closer closer) {
        return closer.register(new Computation(name, Math.max(2, Runtime.getRuntime().availableProcessors()), budget));
    }
}
