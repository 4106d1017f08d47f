package io.keelson.server.api.http;

import io.keelson.server.api.http.support.BearerTokens;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.upkeep.DueWorkPoller;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A part that adds tools, routes and background work to a server. The server creates its modules by their constructors, before
 * the engine, and closes them after it; a module without tools that submits runs is created after the engine, and closed before it. It calls {@link #tools} first, then {@link #start} and {@link #addTo}.
 */
public interface ToolModule extends AutoCloseable {

    /**
     * Adds the module's tools.
     *
     * @param before the tools of the server and of the modules before this one; the module's tools may call them
     * @return {@code before} for a module without tools
     * @throws StartupException when the settings of the module do not fit these tools
     */
    default ToolCatalog tools(ToolCatalog before) throws StartupException {
        return before;
    }

    /**
     * Due work in the database that the module starts. The engine finds it and runs the action, which returns at once.
     *
     * @return empty if the module starts none
     */
    default Map<DueWorkPoller.Kind, Runnable> due() {
        return Map.of();
    }

    /**
     * Starts the background work after the engine.
     *
     * @param changed tells the other nodes that the module's stored settings changed
     */
    default void start(Runnable changed) {}

    /** Abilities that {@code /whoami} lists, because not each server has them. */
    default List<String> features() {
        return List.of();
    }

    /** The background tasks, for metrics. */
    default List<BackgroundTask> tasks() {
        return List.of();
    }

    /**
     * Adds the module's routes.
     *
     * @param api parts that they may use
     */
    default void addTo(Route.Table table, ApiParts api) {}

    /** Tokens of services that the API accepts; null if the module has none. */
    default @Nullable BearerTokens tokens() {
        return null;
    }

    /** Paths of other protocols, which the module answers itself. Called once. */
    default List<Mount> mounts(Commands commands) {
        return List.of();
    }

    /** @throws InterruptedException when the thread is interrupted while it waits for work in progress */
    @Override
    default void close() throws InterruptedException {}
}
