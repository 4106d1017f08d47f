package io.keelson.server.work.effect;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import io.keelson.server.work.effect.EffectCommand.Source;
import io.keelson.server.work.effect.EffectCommand.State;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** {@code execution_commands}. Each method uses the given connection and does not commit. */
final class EffectCommands {

    private static final String INSERT = """
            insert into execution_commands (id, workspace_id, type, key_source, idempotency_key, request_hash, payload,
                target_id, adapter, idempotent, provider_key, actor, actor_kind, run_id, step_id, state, attempts,
                lease_epoch, wake_at, created_at, updated_at)
            select ?, ?, ?, ?, ?, ?, ?::jsonb, ?::uuid, ?, ?, ?, ?, ?, ?::uuid, ?::uuid, 'executing', 1, 1,
                now + ? * interval '1 millisecond', now, now
              from (select {now} as now) as clock
            on conflict (workspace_id, type, key_source, idempotency_key) do nothing
            returning *""".replace("{now}", DbClock.SQL);

    private static final String BY_KEY = """
            select * from execution_commands
             where workspace_id = ? and type = ? and key_source = ? and idempotency_key = ?""";

    private static final String ONE = "select * from execution_commands where workspace_id = ? and id = ?";

    /** Commands that act on a resource come after the one that made it. */
    private static final String DONE_TO = """
            select * from execution_commands
             where workspace_id = ? and type = ? and id > ? and target_id = ? and state = 'completed'
             order by id limit 1""";

    private static final String LIST = """
            select * from execution_commands
             where workspace_id = ? and (?::text is null or type = ?) and (?::text is null or state = ?)
               and (?::uuid is null or run_id = ?) and (?::uuid is null or id < ?)
             order by id desc limit ?""";

    /** Claims under a new epoch; a report of the previous holder then changes nothing. */
    private static final String TAKE = """
            update execution_commands
               set state = 'executing', attempts = attempts + 1, lease_epoch = lease_epoch + 1,
                   uncertain = uncertain or state = 'executing',
                   wake_at = (select {now}) + ? * interval '1 millisecond', updated_at = (select {now})
             where {which} and (state = 'awaiting_tool' or idempotent and attempts < ?)
            returning *""";

    private static final String TAKE_DUE = TAKE.replace("{which}", """
            id = any (array(select id from execution_commands where wake_at <= (select {now}) order by wake_at limit ?
                for update skip locked))""").replace("{now}", DbClock.SQL);

    private static final String TAKE_ONE = TAKE.replace("{which}", """
            id = ? and wake_at <= (select {now})""").replace("{now}", DbClock.SQL);

    /**
     * Commands that may have arrived and must not be repeated. The epoch stays, so a late outcome is still accepted.
     */
    private static final String GIVE_UP = """
            update execution_commands
               set state = 'unknown', wake_at = null, uncertain = true, error_code = '{lost}',
                   error_message = 'its sender did not report an outcome', updated_at = (select {now}),
                   completed_at = (select {now})
             where wake_at <= (select {now}) and state = 'executing' and not (idempotent and attempts < ?)
            returning *""".replace("{now}", DbClock.SQL).replace("{lost}", "OUTCOME_UNKNOWN");

    private static final String SETTLE = """
            update execution_commands
               set state = ?, provider_reference = ?, response = ?::jsonb, error_code = ?, error_message = ?,
                   uncertain = uncertain or ?, wake_at = (select {now}) + ?::bigint * interval '1 millisecond',
                   completed_at = case when ?::bigint is null then (select {now}) end, updated_at = (select {now})
             where id = ? and lease_epoch = ?
               and (state = 'executing' or state = 'unknown' and ? in ('completed', 'failed'))
            returning *""".replace("{now}", DbClock.SQL);

    /**
     * The result of an attempt.
     *
     * @param again delay before the next attempt; null if absent
     */
    record Settled(State state, @Nullable String reference, @Nullable ObjectNode response, @Nullable String errorCode,
            @Nullable String errorMessage, boolean uncertain, @Nullable Duration again) {}

    /** Filter of the list; null for any. */
    record Filter(@Nullable String type, @Nullable String state, @Nullable UUID run, @Nullable UUID before) {}

    private final DbClock clock;

    EffectCommands(DbClock clock) {
        this.clock = clock;
    }

    /** Inserts the command, held by the caller; empty without a change when its key is used. */
    Optional<EffectCommand> insert(Connection c, EffectCommand command, Duration lease) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(INSERT)) {
            int p = 1;
            s.setObject(p++, command.id());
            s.setObject(p++, command.workspaceId());
            s.setString(p++, command.type());
            s.setString(p++, command.source().wire());
            s.setString(p++, command.idempotencyKey());
            s.setString(p++, command.requestHash());
            s.setString(p++, command.payload().toString());
            s.setObject(p++, command.targetId());
            s.setString(p++, command.adapter());
            s.setBoolean(p++, command.idempotent());
            s.setString(p++, command.providerKey());
            s.setString(p++, command.actor());
            s.setString(p++, command.actorKind());
            s.setObject(p++, command.runId());
            s.setObject(p++, command.stepId());
            s.setLong(p++, lease.toMillis());
            clock.bind(s, p);
            return Rows.all(s, EffectCommands::command).stream().findFirst();
        }
    }

    Optional<EffectCommand> byKey(Connection c, UUID workspace, String type, Source source, String key)
            throws SQLException {
        try (PreparedStatement s = c.prepareStatement(BY_KEY)) {
            s.setObject(1, workspace);
            s.setString(2, type);
            s.setString(3, source.wire());
            s.setString(4, key);
            return Rows.all(s, EffectCommands::command).stream().findFirst();
        }
    }

    /** The first command of that type that acted on a resource. */
    Optional<EffectCommand> doneTo(Connection c, UUID workspace, String type, UUID target) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(DONE_TO)) {
            s.setObject(1, workspace);
            s.setString(2, type);
            s.setObject(3, target);
            s.setObject(4, target);
            return Rows.all(s, EffectCommands::command).stream().findFirst();
        }
    }

    Optional<EffectCommand> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return Rows.ofWorkspace(c, ONE, workspace, id, EffectCommands::command);
    }

    /** Newest first. */
    Page<EffectCommand> list(Connection c, UUID workspace, Filter filter, int limit) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(LIST)) {
            s.setObject(1, workspace);
            s.setString(2, filter.type());
            s.setString(3, filter.type());
            s.setString(4, filter.state());
            s.setString(5, filter.state());
            s.setObject(6, filter.run());
            s.setObject(7, filter.run());
            s.setObject(8, filter.before());
            s.setObject(9, filter.before());
            s.setInt(10, limit + 1);
            return Rows.page(s, limit, EffectCommands::command);
        }
    }

    /** Claims due commands that may be tried again. */
    List<EffectCommand> takeDue(Connection c, Duration lease, int maxAttempts, int limit) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(TAKE_DUE)) {
            clock.bind(s, 1);
            s.setLong(2, lease.toMillis());
            clock.bind(s, 3);
            clock.bind(s, 4);
            s.setInt(5, limit);
            s.setInt(6, maxAttempts);
            return Rows.all(s, EffectCommands::command);
        }
    }

    /** Claims one command, if it waits for its next attempt or its lease has expired. */
    Optional<EffectCommand> take(Connection c, UUID id, Duration lease, int maxAttempts) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(TAKE_ONE)) {
            clock.bind(s, 1);
            s.setLong(2, lease.toMillis());
            clock.bind(s, 3);
            s.setObject(4, id);
            clock.bind(s, 5);
            s.setInt(6, maxAttempts);
            return Rows.all(s, EffectCommands::command).stream().findFirst();
        }
    }

    /** Ends commands whose lease has expired and that may not be tried again. */
    List<EffectCommand> giveUp(Connection c, int maxAttempts) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(GIVE_UP)) {
            clock.bind(s, 1);
            clock.bind(s, 2);
            clock.bind(s, 3);
            s.setInt(4, maxAttempts);
            return Rows.all(s, EffectCommands::command);
        }
    }

    /** Records an attempt's outcome; empty without a change when another node has taken over. */
    Optional<EffectCommand> settle(Connection c, EffectCommand command, Settled to) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(SETTLE)) {
            Long again = to.again() == null ? null : Long.valueOf(to.again().toMillis());
            int p = 1;
            s.setString(p++, to.state().wire());
            s.setString(p++, to.reference());
            s.setString(p++, to.response() == null ? null : to.response().toString());
            s.setString(p++, to.errorCode());
            s.setString(p++, to.errorMessage());
            s.setBoolean(p++, to.uncertain());
            clock.bind(s, p++);
            s.setObject(p++, again, Types.BIGINT);
            s.setObject(p++, again, Types.BIGINT);
            clock.bind(s, p++);
            clock.bind(s, p++);
            s.setObject(p++, command.id());
            s.setInt(p++, command.leaseEpoch());
            s.setString(p, to.state().wire());
            return Rows.all(s, EffectCommands::command).stream().findFirst();
        }
    }

    private static EffectCommand command(ResultSet row) throws SQLException {
        String response = row.getString("response");
        return new EffectCommand(row.getObject("id", UUID.class), row.getObject("workspace_id", UUID.class),
                row.getString("type"), Source.of(row.getString("key_source")), row.getString("idempotency_key"),
                row.getString("request_hash"), object(row.getString("payload")), row.getObject("target_id", UUID.class),
                row.getString("adapter"), row.getBoolean("idempotent"), row.getString("provider_key"),
                row.getString("provider_reference"), State.of(row.getString("state")), row.getBoolean("uncertain"),
                row.getInt("attempts"), row.getInt("lease_epoch"), Rows.optionalTime(row, "wake_at"),
                response == null ? null : object(response), row.getString("error_code"), row.getString("error_message"),
                row.getString("actor"), row.getString("actor_kind"), row.getObject("run_id", UUID.class),
                row.getObject("step_id", UUID.class), Rows.time(row, "created_at"), Rows.time(row, "updated_at"),
                Rows.optionalTime(row, "completed_at"));
    }

    static ObjectNode object(String json) {
        return (ObjectNode) Json.read(json);
    }
}
