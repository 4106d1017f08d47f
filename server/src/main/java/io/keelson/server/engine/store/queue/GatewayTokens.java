package io.keelson.server.engine.store.queue;

import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/**
 * {@code gateway_tokens}: tokens of leases for the gateway. The database has their hashes only. A token of a lease that has ended
 * stays with its run, so that its program learns why it is refused.
 */
public final class GatewayTokens {

    private static final String PREFIX = "klg_";
    private static final int RANDOM_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final Sql ADD = Sql.of("""
            insert into gateway_tokens (token_sha256, workspace_id, run_id, task_id, step_id, lease_epoch, allowed)
            values (:hash, :workspace, :run, :task, :step, :epoch, :allowed::jsonb)""");

    private static final Sql FIND = Sql.of("""
            select t.workspace_id, t.run_id, t.task_id, t.step_id, t.lease_epoch, t.allowed::text as allowed,
                coalesce(s.lease_epoch = t.lease_epoch and s.state = 'waiting', false) as parked, s.attempt, coalesce(s.lease_epoch = t.lease_epoch and s.state = 'running'
                    and q.holder is not null and q.lease_expires_at > {now}, false) as held,
                r.attempt_number, r.origin ->> 'traceparent' as traceparent
              from gateway_tokens t
              join orchestration_runs r on r.id = t.run_id
              left join orchestration_steps s on s.id = t.step_id
              left join work_queue q on q.task_id = s.task_id and q.lane = s.lane
             where t.token_sha256 = :hash""");

    private final DbClock clock;

    public GatewayTokens(DbClock clock) {
        this.clock = clock;
    }

    /** The lease of a step. */
    public record Lease(UUID workspaceId, UUID runId, UUID taskId, UUID stepId, int epoch) {}

    /**
     * A known token.
     *
     * @param held whether the lease lasts
     * @param parked whether the lease has ended because the step waits for a call of its program
     * @param attempt of the step
     */
    public record Found(Lease lease, GatewayGrant grant, boolean held, boolean parked, int attempt, RunTrace trace) {}

    /** Makes a token for a lease. */
    public String create(Connection c, Lease lease, GatewayGrant grant) throws SQLException {
        byte[] bytes = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        String token = PREFIX + HexFormat.of().formatHex(bytes);
        ADD.on(c).set("hash", hash(token)).set("workspace", lease.workspaceId).set("run", lease.runId)
                .set("task", lease.taskId).set("step", lease.stepId).set("epoch", lease.epoch)
                .set("allowed", grant.document()).update();
        return token;
    }

    /** The lease of a token, and whether it lasts; empty for an unknown token. */
    public Optional<Found> find(Connection c, String token) throws SQLException {
        return token.startsWith(PREFIX) ? FIND.on(c).at(clock).set("hash", hash(token)).first(row -> new Found(
                new Lease(row.getObject("workspace_id", UUID.class), row.getObject("run_id", UUID.class),
                        row.getObject("task_id", UUID.class), row.getObject("step_id", UUID.class),
                        row.getInt("lease_epoch")),
                Objects.requireNonNull(GatewayGrant.of(Json.read(row.getString("allowed")))), row.getBoolean("held"),
                row.getBoolean("parked"), row.getInt("attempt"),
                new RunTrace(row.getObject("run_id", UUID.class), row.getInt("attempt_number"),
                        TraceParent.parse(row.getString("traceparent")))))
                : Optional.empty();
    }

    /** A fast hash is enough for a random token. */
    private static byte[] hash(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
