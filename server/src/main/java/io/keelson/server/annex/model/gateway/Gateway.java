package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.base.db.Database;
import io.keelson.server.tenant.money.PriceTable;
import java.util.Arrays;
import java.util.List;

/** The entrance of this package. */
public final class Gateway {

    private Gateway() {}

    /** The paths of all providers' APIs. */
    public static List<Mount> mounts(Database database, WorkspaceModels models, PriceTable prices) {
        GatewayCallers callers = new GatewayCallers(database);
        UsableModels usable = new UsableModels(models, prices);
        return Arrays.stream(Dialect.values()).<Mount>map(each -> new GatewayMount(each, callers, usable)).toList();
    }
}
