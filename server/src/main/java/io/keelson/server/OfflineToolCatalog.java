package io.keelson.server;

import io.keelson.server.effect.CommandTools;
import io.keelson.server.expr.Expressions;
import io.keelson.server.json.Json;
import io.keelson.server.model.call.ModelCalls;
import io.keelson.server.model.call.ModelGenerate;
import io.keelson.server.model.coordination.ModelJudge;
import io.keelson.server.model.coordination.ModelPlan;
import io.keelson.server.outbound.OutboundClient;
import io.keelson.server.plan.CatalogToolKnowledge;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.tool.Tool;
import io.keelson.server.tool.ToolCatalog;
import io.keelson.server.tool.ToolPolicy;
import io.keelson.server.tool.ToolSpec;
import io.keelson.server.tool.builtin.BuiltinTools;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The built-in tools without a server: for listing and validation, not for execution. */
public final class OfflineToolCatalog {

    private final Expressions expressions = new Expressions();
    private final ToolCatalog catalog;

    /** The client for what tools send is never used here, so it holds nothing that would have to be closed. */
    public OfflineToolCatalog(Clock clock) {
        List<Tool> tools = new ArrayList<>(
                BuiltinTools.all(ToolPolicy.of(List.of(Path.of(""))), expressions, new OutboundClient(false), clock));
        tools.addAll(CommandTools.unconnected());
        ModelGenerate generate = new ModelGenerate(ModelCalls.unconnected(clock), expressions.computation());
        tools.add(generate);
        tools.add(new ModelJudge(generate, call -> Set.of()));
        tools.add(new ModelPlan(ModelCalls.unconnected(clock), workspace -> Json.object()));
        this.catalog = new ToolCatalog(tools);
    }

    /** All built-in tools, by name. */
    public List<ToolSpec> specs() {
        return catalog.all().stream().map(Tool::spec).toList();
    }

    /** @param servedByWorkers names of tools that are not built in */
    public MissionReader reader(Set<String> servedByWorkers) {
        CatalogToolKnowledge knowledge = new CatalogToolKnowledge(catalog, expressions, () -> servedByWorkers);
        return new MissionReader(knowledge, knowledge::timeout);
    }
}
