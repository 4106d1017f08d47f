package io.keelson.server.app;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.work.effect.Adapters;
import io.keelson.server.work.effect.CommandHandler;
import io.keelson.server.work.effect.CommandTools;
import io.keelson.server.work.effect.EndpointAdapter;
import io.keelson.server.work.effect.HttpAdapter;
import io.keelson.server.work.effect.Provider;
import io.keelson.server.work.effect.SimulatedProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Commands to the world outside, wired as the settings say. */
final class EffectWiring {

    /** A command is held for so much longer than its call may take. */
    private static final Duration MARGIN = Duration.ofSeconds(10);

    private EffectWiring() {}

    static CommandHandler handler(Settings.Commands settings, Database database, OutboundClient outbound) {
        Provider provider = new Provider(outbound, settings.token(), settings.timeout());
        SimulatedProvider paper = new SimulatedProvider(database, DbClock.DATABASE);
        String url = settings.url();
        EndpointAdapter endpoints =
                new EndpointAdapter(new Provider(outbound, null, settings.timeout()), settings.types());
        Adapters adapters = url == null ? new Adapters(paper, List.of(), endpoints)
                : new Adapters(new HttpAdapter(provider, url, settings.idempotent()), List.of(paper), endpoints);
        return new CommandHandler(database, DbClock.DATABASE, adapters, UuidCreator::getTimeOrderedEpoch,
                settings.timeout().plus(MARGIN));
    }

    /** @throws StartupException when a registered type has the name of a tool */
    static ToolCatalog catalog(List<Tool> builtIn, CommandHandler commands, Settings.Commands settings)
            throws StartupException {
        Set<String> names = builtIn.stream().map(tool -> tool.spec().name()).collect(Collectors.toSet());
        for (String type : commands.registered()) {
            if (names.contains(type)) {
                throw new StartupException("SETTING_INVALID", Setting.KEELSON_COMMAND_TYPES
                        + " cannot be used: there is a tool called " + type,
                        new IllegalArgumentException(type));
            }
        }
        List<Tool> tools = new ArrayList<>(builtIn);
        Duration held = settings.timeout().plus(MARGIN);
        tools.addAll(CommandTools.of(commands, held.multipliedBy(2)));
        return new ToolCatalog(tools);
    }
}
