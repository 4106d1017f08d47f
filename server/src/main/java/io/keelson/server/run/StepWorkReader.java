package io.keelson.server.run;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What remote workers need to know of steps, and who a step belongs to. */
public final class StepWorkReader {

    /**
     * A step that runs under a lease.
     *
     * @param name with the turn, as {@code StepRow.name()} says it
     * @param input JSON text, expressions unresolved
     * @param effectKey stable over reclaims and infrastructure retries of one logical step
     * @param deadline null when the holder got none
     * @param details JSON text that an earlier holder's heartbeat left; null when none did
     */
    public record StepWork(UUID workspaceId, UUID runId, String runName, UUID taskId, int lane, UUID stepId,
            String name, String tool, String input, int attempt, int leaseEpoch, Duration timeout, String effectKey,
            @Nullable String holder, @Nullable Instant leaseExpiresAt, @Nullable Instant deadline,
            @Nullable String errorCode, @Nullable String errorMessage, @Nullable String errorClass,
            @Nullable String details) {}

    /** The runs of those steps that exist in the workspace. */
    public Map<UUID, UUID> runsOf(Connection c, UUID workspaceId, Collection<UUID> stepIds) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** Those of the steps that exist, by id. */
    public Map<UUID, StepWork> work(Connection c, Collection<UUID> stepIds) throws SQLException {
        throw new UnsupportedOperationException();
    }
}
