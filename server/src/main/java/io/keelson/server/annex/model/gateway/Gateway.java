package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.api.http.gateway.StepTokens;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.ModelRates;
import io.keelson.server.engine.store.read.GatewayRecords;
import io.keelson.server.tenant.money.PriceTable;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** The entrance of this package: the paths of providers' APIs, and the closing of requests whose servers are gone. */
public final class Gateway implements AutoCloseable {
    private final List<Mount> mounts;
    private final ModelGateway gateway;

    /** @param client made at the first request */
    public Gateway(Database database, WorkspaceModels models, PriceTable prices, Commands commands,
            Supplier<PassingClient> client, ModelRates rates, GatewayObserver observer) {
        StepTokens tokens = new StepTokens(database);
        UsableModels usable = new UsableModels(models, prices);
        this.gateway = new ModelGateway(usable, new GatewayRecords(database, DbClock.DATABASE), commands,
                client, rates, observer, new GatewayLog(database), commands.node());
        this.mounts = Arrays.stream(Dialect.values())
                .<Mount>map(each -> new GatewayMount(each, tokens, usable, gateway)).toList();
    }

    /** The paths of all providers' APIs. */
    public List<Mount> mounts() {
        return mounts;
    }

    /** Closes requests of servers that are gone. */
    public void closeOrphans() throws InterruptedException {
        gateway.closeOrphans(null);
    }

    @Override
    public void close() {
        gateway.close();
    }
}
