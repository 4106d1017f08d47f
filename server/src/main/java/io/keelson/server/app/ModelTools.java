package io.keelson.server.app;

import io.keelson.server.app.metrics.ModelMeters;
import io.keelson.server.app.metrics.ObservedModels;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.tool.BusySystems;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceTable;
import io.keelson.server.work.model.call.ModelCalls;
import io.keelson.server.work.model.call.ModelGenerate;
import io.keelson.server.work.model.coordination.ModelJudge;
import io.keelson.server.work.model.coordination.ModelPlan;
import io.keelson.server.work.model.registry.ConfiguredModel;
import io.keelson.server.work.model.registry.WorkspaceModels;
import io.keelson.server.work.model.turn.ModelTurn;
import io.keelson.server.work.model.wire.HttpModelClient;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The tools that call models. Without configured models there are no such tools, and their classes are not loaded. */
final class ModelTools {

    private ModelTools() {}

    /**
     * The catalogue with the tools of models.
     *
     * @param announced the announcements of a workspace's workers, by tool
     * @param authors names of the models that have worked on the task of a call
     * @param facts facts for planners of a workspace, from the tools so far
     * @param nanos a steady clock in nanoseconds, for the pauses that models request
     */
    static ToolCatalog added(ToolCatalog tools, WorkspaceModels models, PriceTable prices,
            Function<UUID, Map<String, JsonNode>> announced, BiFunction<ToolCatalog, UUID, ObjectNode> facts,
            Function<ToolCall, Set<String>> authors, Computation computation, Clock clock, LongSupplier nanos,
            ModelMeters meters, Closer closer) {
        if (models.configured().all().isEmpty()) {
            return tools;
        }
        OutboundClient outbound = closer.register(new OutboundClient(true));
        ModelCalls calls = new ModelCalls(models,
                model -> prices.withoutPrice(PriceKind.MODEL, Set.of(model)).isEmpty(),
                new ObservedModels(new HttpModelClient(outbound, clock, System::nanoTime), meters),
                new BusySystems(nanos), clock);
        ModelGenerate generate = new ModelGenerate(calls, computation);
        ToolCatalog callable = tools.with(List.of(generate));
        return callable.with(
                List.of(new ModelJudge(generate, call -> families(models, authors.apply(call))),
                        new ModelPlan(calls, workspace -> facts.apply(callable, workspace)),
                        new ModelTurn(calls, callable, announced, computation)));
    }

    private static Set<String> families(WorkspaceModels models, Set<String> names) {
        return names.stream().flatMap(name -> models.configured().find(name).stream()).map(ConfiguredModel::family)
                .collect(Collectors.toSet());
    }
}
