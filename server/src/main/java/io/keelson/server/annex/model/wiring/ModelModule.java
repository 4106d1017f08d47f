package io.keelson.server.annex.model.wiring;

import io.keelson.core.plan.RosterAgent;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.server.annex.model.call.ModelCalls;
import io.keelson.server.annex.model.call.ModelGenerate;
import io.keelson.server.annex.model.coordination.ModelJudge;
import io.keelson.server.annex.model.coordination.ModelPlan;
import io.keelson.server.annex.model.coordination.PlanningFacts;
import io.keelson.server.annex.model.gateway.Gateway;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.registry.ModelAdmission;
import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.annex.model.turn.ModelTurn;
import io.keelson.server.annex.model.wire.HttpModelClient;
import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.ModelRates;
import io.keelson.server.engine.store.SharedModelRates;
import io.keelson.server.engine.store.read.TaskAuthors;
import io.keelson.server.engine.tool.BusySystems;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.mission.plan.ModelRules;
import io.keelson.server.mission.recipe.RecipeStore;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceTable;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The models that a server calls: tools, routes, and the rules that plans meet. */
public final class ModelModule implements ToolModule {

    /**
     * Parts of the server that models read.
     *
     * @param agents of a workspace
     * @param announced the announcements of a workspace's workers, by tool
     * @param rules of workspaces about tools
     */
    public record Sources(Database database, PriceTable prices, RecipeStore recipes,
            Function<UUID, List<RosterAgent>> agents, Function<UUID, Map<String, JsonNode>> announced,
            Function<UUID, ToolPolicy.Rule> rules) {}

    private static final Duration ORPHAN_INTERVAL = Duration.ofSeconds(10);

    private final WorkspaceModels models;
    private final Sources sources;
    private final ModelRates rates;
    private final Computation computation;
    private final ModelObserver observer;
    private final Clock clock;
    private final LongSupplier nanos;
    /** Null without models. */
    private @Nullable OutboundClient outbound;
    /** Null before there are routes. */
    private volatile @Nullable Gateway gateway;
    private final BackgroundTask orphans =
            BackgroundTask.every("gateway-orphans", ORPHAN_INTERVAL, this::closeOrphans);

    /**
     * @param nanos a steady clock in nanoseconds, for the pauses that models request
     */
    public ModelModule(Models models, Sources sources, Computation computation, ModelObserver observer,
            Clock clock, LongSupplier nanos) {
        this.models = new WorkspaceModels(models, new WorkspaceStore(sources.database)::models);
        this.sources = sources;
        this.rates = new SharedModelRates(sources.database);
        this.computation = computation;
        this.observer = observer;
        this.clock = clock;
        this.nanos = nanos;
    }

    /** The tools that call models, for listing and validation, without execution. */
    public static List<Tool> unconnected(Computation computation) {
        ModelCalls calls = ModelCalls.unconnected();
        ModelGenerate generate = new ModelGenerate(calls, computation);
        return List.of(generate, new ModelJudge(generate, call -> Set.of()),
                new ModelPlan(calls, workspace -> Json.object()));
    }

    /** The models that missions of a workspace may name. */
    public ModelRules rules(UUID workspace) {
        return new ModelAdmission(sources.prices, models).of(workspace);
    }

    /** Without configured models there are no such tools, and their classes are not loaded. */
    @Override
    public ToolCatalog tools(ToolCatalog before) {
        if (models.configured().all().isEmpty()) {
            return before;
        }
        OutboundClient client = new OutboundClient(true);
        outbound = client;
        ModelCalls calls = new ModelCalls(models,
                model -> sources.prices.withoutPrice(PriceKind.MODEL, Set.of(model)).isEmpty(),
                new ObservedModels(new HttpModelClient(client, clock, System::nanoTime), observer),
                new BusySystems(nanos), rates);
        ModelGenerate generate = new ModelGenerate(calls, computation);
        ToolCatalog callable = before.with(List.of(generate));
        PlanningFacts facts = new PlanningFacts(sources.agents, models, sources.announced, sources.database,
                sources.recipes, sources.rules);
        return callable.with(List.of(new ModelJudge(generate, this::authors),
                new ModelPlan(calls, workspace -> facts.of(callable, workspace)),
                new ModelTurn(calls, callable, sources.announced, computation)));
    }

    /** The families of the models that have worked on the task of a call. */
    private Set<String> authors(ToolCall call) {
        Set<String> names = sources.database.withConnection(
                c -> TaskAuthors.models(c, call.workspaceId(), call.runId(), call.taskId()));
        return names.stream().flatMap(name -> models.configured().find(name).stream()).map(ConfiguredModel::family)
                .collect(Collectors.toSet());
    }

    private void closeOrphans() throws InterruptedException {
        Gateway made = gateway;
        if (made != null) {
            made.closeOrphans();
        }
    }

    @Override
    public List<BackgroundTask> tasks() {
        return List.of(orphans);
    }

    @Override
    public List<String> features() {
        return models.configured().all().isEmpty() ? List.of() : List.of("models");
    }

    @Override
    public void addTo(Route.Table table, ApiParts api) {
        new ModelActions(models, sources.prices, endpoint -> ModelConfiguration.answers(endpoint, clock))
                .addTo(table);
    }

    @Override
    public List<Mount> mounts(Commands commands) {
        Gateway made = new Gateway(sources.database, models, sources.prices, commands,
                () -> new PassingClient(Objects.requireNonNull(outbound), clock, System::nanoTime), rates, observer);
        gateway = made;
        if (!models.configured().all().isEmpty()) {
            orphans.start();
        }
        return made.mounts();
    }

    @Override
    public void close() throws InterruptedException {
        orphans.close();
        Gateway made = gateway;
        if (made != null) {
            made.close();
        }
        if (outbound != null) {
            outbound.close();
        }
    }
}
