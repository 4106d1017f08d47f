package io.keelson.server.app;

import io.keelson.server.annex.effect.EffectModule;
import io.keelson.server.annex.model.wiring.ModelModule;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.mission.plan.CatalogToolKnowledge;
import io.keelson.server.mission.plan.MissionContext;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.work.builtin.BuiltinTools;
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
        tools.addAll(EffectModule.unconnected());
        tools.addAll(ModelModule.unconnected(expressions.computation()));
        this.catalog = new ToolCatalog(tools);
    }

    /** All built-in tools, by name. */
    public List<ToolSpec> specs() {
        return catalog.all().stream().map(Tool::spec).toList();
    }

    /** @param servedByWorkers names of tools that are not built in */
    public MissionReader reader(Set<String> servedByWorkers) {
        return new MissionReader(
                MissionContext.of(new CatalogToolKnowledge(catalog, expressions, () -> servedByWorkers)));
    }
}
