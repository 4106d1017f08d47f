package io.keelson.server.run;

import io.keelson.server.db.DbClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Who is there to work: this database's engine nodes, and each workspace's remote workers. */
public final class Fleet {

    public record Node(String id, String version, Instant startedAt, Instant lastSeenAt) {}

    public Fleet(DbClock clock) {
        throw new UnsupportedOperationException();
    }

    /** Registers a node or says that it lives. */
    public void beat(Connection c, String node, String version) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** A node says goodbye. */
    public void leave(Connection c, String node) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** Nodes heard of within that time. */
    public List<Node> nodes(Connection c, Duration within) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /**
     * Notes a worker that asked for work.
     *
     * @param slots how much it asked for
     * @return true when the worker is to be drained: it gets nothing
     */
    public boolean seen(Connection c, UUID workspaceId, String worker, Collection<String> tools, int slots,
            @Nullable String version) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** Notes that a worker lives. */
    public void seen(Connection c, UUID workspaceId, String worker) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** Gives the worker no more work; false when the workspace has no such worker. */
    public boolean drain(Connection c, UUID workspaceId, String worker) throws SQLException {
        throw new UnsupportedOperationException();
    }
}
