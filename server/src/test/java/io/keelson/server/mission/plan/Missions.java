package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.work.builtin.BuiltinTools;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** A reader over the built-in tools, and {@code translate}, which only a worker serves. */
final class Missions {
    static final CatalogToolKnowledge TOOLS = tools(() -> Set.of("translate"));
    private static final MissionReader READER = new MissionReader(MissionContext.of(TOOLS));

    private Missions() {}

    /** The built-in tools, and those. */
    static CatalogToolKnowledge tools(Supplier<Set<String>> served) {
        Expressions expressions = new Expressions();
        ToolCatalog catalog = new ToolCatalog(BuiltinTools.all(ToolPolicy.of(List.of(Path.of("."))), expressions,
                new OutboundClient(false), Clock.systemUTC()));
        return new CatalogToolKnowledge(catalog, expressions, served);
    }

    static ReadResult<CheckedMission> read(String text, Format format) {
        return READER.read(text.getBytes(StandardCharsets.UTF_8), format);
    }

    static CheckedMission yaml(String text) {
        return done(read(text, Format.YAML));
    }

    static CheckedMission json(String text) {
        return done(read(text, Format.JSON));
    }

    static CheckedMission done(ReadResult<CheckedMission> result) {
        assertThat(result).isInstanceOf(ReadResult.Ok.class);
        return ((ReadResult.Ok<CheckedMission>) result).value();
    }

    static List<PlanProblem> problems(String text, Format format) {
        return problems(read(text, format));
    }

    static List<PlanProblem> problems(ReadResult<?> result) {
        return switch (result) {
            case ReadResult.Ok<?> ok -> List.of();
            case ReadResult.Invalid<?> invalid -> invalid.problems();
        };
    }
}
