package io.keelson.server.api.http.admin;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.tenant.auth.Scope;
import java.time.Duration;

/** The servers at work on this database. */
public final class NodeActions {

    /** Servers that were silent for longer are not listed. */
    private static final Duration LISTED_FOR = Duration.ofMinutes(1);

    private final Database database;
    private final WorkerRegistry registry = new WorkerRegistry(DbClock.DATABASE);

    public NodeActions(Database database) {
        this.database = database;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.OPERATOR, "/nodes", this::list);
    }

    private ApiResponse list(ApiRequest request) {
        return Lists.wholeOf(database.withConnection(c -> registry.nodes(c, LISTED_FOR)));
    }
}
