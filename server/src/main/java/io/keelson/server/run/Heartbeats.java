package io.keelson.server.run;

import io.keelson.server.db.DbClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What holders of leases say while they work: that they live, how far they are, and log lines. */
public final class Heartbeats {

    /**
     * @param progress 0 to 1; null leaves what is known
     * @param details JSON text that the next attempt receives; null leaves what is known
     */
    public record Beat(UUID stepId, int epoch, @Nullable Double progress, @Nullable String message,
            @Nullable String details) {}

    /** @param lines in order; long ones are cut, those beyond the step's bound dropped */
    public record Log(UUID stepId, int epoch, int attempt, List<String> lines) {}

    public Heartbeats(DbClock clock) {
        throw new UnsupportedOperationException();
    }

    /**
     * Extends the leases of those steps that run in the workspace under that holder and epoch.
     *
     * @return when each of the accepted leases ends now, by step; what is missing is no longer the holder's
     */
    public Map<UUID, Instant> beat(Connection c, UUID workspaceId, String holder, Collection<Beat> beats)
            throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** Appends log lines. */
    public void log(Connection c, Collection<Log> logs) throws SQLException {
        throw new UnsupportedOperationException();
    }
}
