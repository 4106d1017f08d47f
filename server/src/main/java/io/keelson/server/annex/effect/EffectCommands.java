package io.keelson.server.annex.effect;

import io.keelson.server.annex.effect.EffectCommand.Source;
import io.keelson.server.annex.effect.EffectCommand.State;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** {@code execution_commands}. Each method uses the given connection and does not commit. */
final class EffectCommands {

    private static final Sql INSERT = Sql.of("""
            insert into execution_commands (id, workspace_id, type, key_source, idempotency_key, request_hash, payload,
                target_id, adapter, idempotent, provider_key, actor, actor_kind, run_id, step_id, state, attempts,
                lease_epoch, wake_at, created_at, updated_at)
            select :id, :workspace_id, :type, :key_source, :idempotency_key, :request_hash, :payload::jsonb,
                :target_id::uuid, :adapter, :idempotent, :provider_key, :actor, :actor_kind, :run_id::uuid, :step_id::uuid,
                'executing', 1, 1, now + :lease * interval '1 millisecond', now, now
              from (select {now} as now) as clock
            on conflict (workspace_id, type, key_source, idempotency_key) do nothing
            returning *""");

    private static final Sql BY_KEY = Sql.of("""
            select * from execution_commands
             where workspace_id = :workspace and type = :type and key_source = :source and idempotency_key = :key""");

    private static final Sql ONE =
            Sql.of("select * from execution_commands where workspace_id = :workspace and id = :id");

    /** Commands on a resource, which follow the command that created it. */
    private static final Sql DONE_TO = Sql.of("""
            select * from execution_commands
             where workspace_id = :workspace and type = :type and id > :target and target_id = :target and state = 'completed'
             order by id limit 1""");

    private static final Sql LIST = Sql.of("""
            select * from execution_commands
             where workspace_id = :workspace and (:type::text is null or type = :type)
               and (:state::text is null or state = :state)
               and (:run::uuid is null or run_id = :run) and (:before::uuid is null or id < :before)
             order by id desc limit :limit""");

    /** Claims under a new epoch; a report of the previous holder then changes nothing. */
    private static final String TAKE = """
            update execution_commands
               set state = 'executing', attempts = attempts + 1, lease_epoch = lease_epoch + 1,
                   uncertain = uncertain or state = 'executing',
                   wake_at = (select {now}) + :lease * interval '1 millisecond', updated_at = (select {now})
             where {which} and (state = 'awaiting_tool' or idempotent and attempts < :attempts)
            returning *""";

    private static final Sql TAKE_DUE = Sql.of(TAKE.replace("{which}", """
            id = any (array(select id from execution_commands where wake_at <= (select {now}) order by wake_at limit :limit
                for update skip locked))"""));

    private static final Sql TAKE_ONE = Sql.of(TAKE.replace("{which}", """
            id = :id and wake_at <= (select {now})"""));

    /**
     * Commands that may have arrived and must not be repeated. The epoch stays, so a late outcome is still accepted.
     */
    private static final Sql GIVE_UP = Sql.of("""
            update execution_commands
               set state = 'unknown', wake_at = null, uncertain = true, error_code = '{lost}',
                   error_message = 'its sender did not report an outcome', updated_at = (select {now}),
                   completed_at = (select {now})
             where wake_at <= (select {now}) and state = 'executing' and not (idempotent and attempts < :attempts)
            returning *""".replace("{lost}", "OUTCOME_UNKNOWN"));

    private static final Sql SETTLE = Sql.of("""
            update execution_commands
               set state = :state, provider_reference = :reference, response = :response::jsonb,
                   error_code = :error_code, error_message = :error_message, uncertain = uncertain or :uncertain,
                   wake_at = (select {now}) + :again::bigint * interval '1 millisecond',
                   completed_at = case when :again::bigint is null then (select {now}) end, updated_at = (select {now})
             where id = :id and lease_epoch = :epoch
               and (state = 'executing' or state = 'unknown' and :state in ('completed', 'failed'))
            returning *""");

    /**
     * The result of an attempt.
     *
     * @param again delay before the next attempt; null if absent
     */
    record Settled(State state, @Nullable String reference, @Nullable ObjectNode response, @Nullable String errorCode,
            @Nullable String errorMessage, boolean uncertain, @Nullable Duration again) {}

    /** Filter of the list; null for any. */
    record Filter(@Nullable String type, @Nullable String state, @Nullable UUID run, @Nullable UUID before) {}

    private static final RecordColumns<EffectCommand> COMMAND = RecordColumns.of(EffectCommand.class);

    private final DbClock clock;

    EffectCommands(DbClock clock) {
        this.clock = clock;
    }

    /** Inserts the command, held by the caller; empty without a change when its key is used. */
    Optional<EffectCommand> insert(Connection c, EffectCommand command, Duration lease) throws SQLException {
        return INSERT.on(c).set(command).set("lease", lease.toMillis()).at(clock).first(COMMAND);
    }

    Optional<EffectCommand> byKey(Connection c, UUID workspace, String type, Source source, String key)
            throws SQLException {
        return BY_KEY.on(c).set("workspace", workspace).set("type", type).set("source", source.wire()).set("key", key)
                .first(COMMAND);
    }

    /** The first command of that type that acted on a resource. */
    Optional<EffectCommand> doneTo(Connection c, UUID workspace, String type, UUID target) throws SQLException {
        return DONE_TO.on(c).set("workspace", workspace).set("type", type).set("target", target).first(COMMAND);
    }

    Optional<EffectCommand> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return ONE.on(c).set("workspace", workspace).set("id", id).first(COMMAND);
    }

    /** Newest first. */
    Page<EffectCommand> list(Connection c, UUID workspace, Filter filter, int limit) throws SQLException {
        return LIST.on(c).set("workspace", workspace).set("type", filter.type()).set("state", filter.state())
                .set("run", filter.run()).set("before", filter.before()).page(limit, COMMAND);
    }

    /** Claims due commands that may be tried again. */
    List<EffectCommand> takeDue(Connection c, Duration lease, int maxAttempts, int limit) throws SQLException {
        return TAKE_DUE.on(c).at(clock).set("lease", lease.toMillis()).set("limit", limit).set("attempts", maxAttempts)
                .all(COMMAND);
    }

    /** Claims one command, if it waits for its next attempt or its lease has expired. */
    Optional<EffectCommand> take(Connection c, UUID id, Duration lease, int maxAttempts) throws SQLException {
        return TAKE_ONE.on(c).at(clock).set("lease", lease.toMillis()).set("id", id).set("attempts", maxAttempts)
                .first(COMMAND);
    }

    /** Ends commands whose lease has expired and that may not be tried again. */
    List<EffectCommand> giveUp(Connection c, int maxAttempts) throws SQLException {
        return GIVE_UP.on(c).at(clock).set("attempts", maxAttempts).all(COMMAND);
    }

    /** Records an attempt's outcome; empty without a change when another node has taken over. */
    Optional<EffectCommand> settle(Connection c, EffectCommand command, Settled to) throws SQLException {
        return SETTLE.on(c).at(clock).set("state", to.state().wire()).set("reference", to.reference())
                .set("response", to.response()).set("error_code", to.errorCode())
                .set("error_message", to.errorMessage())
                .set("uncertain", to.uncertain()).set("again", to.again() == null ? null : to.again().toMillis())
                .set("id", command.id()).set("epoch", command.leaseEpoch()).first(COMMAND);
    }
}
