package io.keelson.server.annex.effect;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.upkeep.DueWorkPoller;
import java.util.List;
import java.util.Map;

/** Commands to external systems: their tools, routes and upkeep. */
public final class EffectModule implements ToolModule {

    private final EffectSettings settings;
    private final CommandHandler handler;
    private final CommandUpkeep upkeep;

    public EffectModule(EffectSettings settings, Database database, OutboundClient outbound) {
        this.settings = settings;
        this.handler = new CommandHandler(database, DbClock.DATABASE, adapters(settings, database, outbound),
                UuidCreator::getTimeOrderedEpoch, settings.lease());
        this.upkeep = new CommandUpkeep(handler);
    }

    /** The built-in commands as tools for listing and validation, without execution. */
    public static List<Tool> unconnected() {
        return CommandTools.unconnected();
    }

    private static Adapters adapters(EffectSettings settings, Database database, OutboundClient outbound) {
        Provider provider = new Provider(outbound, settings.token(), settings.timeout());
        SimulatedProvider paper = new SimulatedProvider(database, DbClock.DATABASE);
        String url = settings.url();
        EndpointAdapter endpoints =
                new EndpointAdapter(new Provider(outbound, null, settings.timeout()), settings.types());
        return url == null ? new Adapters(paper, List.of(), endpoints)
                : new Adapters(new HttpAdapter(provider, url, settings.idempotent()), List.of(paper), endpoints);
    }

    /** @throws StartupException when a registered type has the name of a tool */
    @Override
    public ToolCatalog tools(ToolCatalog before) throws StartupException {
        for (String type : handler.registered()) {
            if (before.find(type).isPresent()) {
                throw new StartupException("SETTING_INVALID",
                        "KEELSON_COMMAND_TYPES cannot be used: there is a tool called " + type,
                        new IllegalArgumentException(type));
            }
        }
        return before.with(CommandTools.of(handler, settings.lease().multipliedBy(2)));
    }

    @Override
    public Map<DueWorkPoller.Kind, Runnable> due() {
        return Map.of(DueWorkPoller.Kind.COMMANDS, upkeep::signal);
    }

    @Override
    public List<BackgroundTask> tasks() {
        return upkeep.tasks();
    }

    @Override
    public void addTo(Route.Table table, ApiParts api) {
        CommandAnswers answers = new CommandAnswers(handler);
        new DeploymentOrderActions(handler, answers).addTo(table);
        new CommandActions(handler, answers).addTo(table);
    }

    @Override
    public void close() throws InterruptedException {
        upkeep.close();
    }
}
