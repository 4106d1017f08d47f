package io.keelson.server.app;

import io.keelson.api.worker.GatewayVariables;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.queue.GatewayGrant;
import io.keelson.server.engine.store.queue.GatewayTokens;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.work.builtin.BuiltinTools;
import java.net.URI;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.BooleanNode;

/** Gives programs of this server's steps the address of the gateway and a token of their lease. */
final class ProgramGateway implements BuiltinTools.ProgramVariables {

    private static final GatewayGrant ALL = Objects.requireNonNull(GatewayGrant.of(BooleanNode.TRUE));

    private final Database database;
    private final GatewayTokens tokens = new GatewayTokens(DbClock.DATABASE);
    private volatile @Nullable URI server;

    ProgramGateway(Database database) {
        this.database = database;
    }

    /** The server listens at this address from now on. */
    void listensAt(URI address) {
        server = address;
    }

    @Override
    public Map<String, String> of(ToolCall call) {
        URI address = server;
        if (address == null) {
            throw new HandBackException("the server does not listen yet");
        }
        GatewayTokens.Lease lease = new GatewayTokens.Lease(call.workspaceId(), call.runId(), call.taskId(),
                call.stepId(), call.leaseEpoch());
        return GatewayVariables.of(address.toString(),
                database.inTransaction(connection -> tokens.create(connection, lease, ALL)));
    }
}
