package io.keelson.cli;

import io.keelson.server.expr.Expressions;
import io.keelson.server.outbound.OutboundClient;
import io.keelson.server.plan.CatalogToolKnowledge;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.tool.ToolCatalog;
import io.keelson.server.tool.ToolPolicy;
import io.keelson.server.tool.builtin.BuiltinTools;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Set;

/** The built-in tools as the program carries them: to be looked at and checked against, not to be executed. */
final class LocalTools {

    private final Expressions expressions = new Expressions();
    /** Its client sends nothing, so it holds nothing that would have to be closed. */
    private final ToolCatalog catalog = new ToolCatalog(BuiltinTools.all(ToolPolicy.of(List.of(Path.of(""))),
            expressions, new OutboundClient(false), Clock.systemUTC()));

    ToolCatalog catalog() {
        return catalog;
    }

    /** @param servedByWorkers names of tools that are not built in */
    MissionReader reader(Set<String> servedByWorkers) {
        CatalogToolKnowledge knowledge = new CatalogToolKnowledge(catalog, expressions, () -> servedByWorkers);
        return new MissionReader(knowledge, knowledge::timeout);
    }
}
