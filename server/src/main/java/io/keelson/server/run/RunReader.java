package io.keelson.server.run;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * What clients may read of runs, as documents in the API's shape (specification, api "Shapes that clients rely on").
 * Another workspace's row does not exist here.
 */
public final class RunReader {

    /**
     * Which runs to list.
     *
     * @param tag JSON text that the run's tags contain; null for all
     */
    public record Filter(@Nullable String state, @Nullable String stateType, @Nullable String tag) {}

    /** @param nextCursor where the next page begins, opaque; null on the last one */
    public record Page(List<ObjectNode> items, @Nullable String nextCursor) {}

    /** Where an artifact's bytes are. */
    public record ArtifactFile(String name, String contentType, long sizeBytes, String sha256, String storageKey) {}

    /** A cursor that this reader did not write. */
    public static final class BadCursorException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    public Optional<ObjectNode> run(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** The id of the run that bears the client's own id. */
    public Optional<UUID> byExternalId(Connection c, UUID workspaceId, String externalId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /**
     * Newest first.
     *
     * @throws BadCursorException when the cursor is none of ours
     */
    public Page runs(Connection c, UUID workspaceId, Filter filter, @Nullable String cursor, int limit)
            throws SQLException {
        throw new UnsupportedOperationException();
    }

    /**
     * What the status document is made of: {@code run_id, agent_slug, state, trigger, started_at, finished_at,
     * current_step, steps_total, steps_completed, error_code, error_message}.
     */
    public Optional<ObjectNode> status(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** @param attempt null for the current one */
    public List<ObjectNode> tasks(Connection c, UUID workspaceId, UUID runId, @Nullable Integer attempt)
            throws SQLException {
        throw new UnsupportedOperationException();
    }

    public Optional<ObjectNode> task(Connection c, UUID workspaceId, UUID taskId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** @param attempt null for the current one */
    public List<ObjectNode> steps(Connection c, UUID workspaceId, UUID runId, @Nullable Integer attempt)
            throws SQLException {
        throw new UnsupportedOperationException();
    }

    public Optional<ObjectNode> step(Connection c, UUID workspaceId, UUID stepId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** Events of the run with a greater {@code seq}, in order. */
    public List<ObjectNode> events(Connection c, UUID workspaceId, UUID runId, long afterSeq, int limit)
            throws SQLException {
        throw new UnsupportedOperationException();
    }

    public List<ObjectNode> attempts(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    public List<ObjectNode> agents(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    public List<ObjectNode> artifacts(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    public Optional<ArtifactFile> artifact(Connection c, UUID workspaceId, UUID artifactId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** Log lines of the step with a greater {@code seq}, in order. */
    public List<ObjectNode> logs(Connection c, UUID workspaceId, UUID stepId, long afterSeq, int limit)
            throws SQLException {
        throw new UnsupportedOperationException();
    }

    public List<ObjectNode> workers(Connection c, UUID workspaceId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** Approval steps that wait for a decision, oldest first. */
    public List<ObjectNode> waitingApprovals(Connection c, UUID workspaceId, int limit) throws SQLException {
        throw new UnsupportedOperationException();
    }
}
