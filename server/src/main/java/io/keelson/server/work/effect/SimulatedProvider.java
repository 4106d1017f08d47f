package io.keelson.server.work.effect;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Json;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A simulated provider, stored in {@code simulated_effects}. Deterministic: deployments run until they are stopped,
 * market orders are filled at once, limit orders stay open until they are cancelled.
 */
public final class SimulatedProvider implements EffectAdapter {

    private static final String MAKE = """
            insert into simulated_effects (id, workspace_id, kind, status, document, created_at, updated_at)
            select ?, ?, ?, ?, ?::jsonb, now, now from (select {now} as now) as clock
            on conflict (id) do nothing""".replace("{now}", DbClock.SQL);

    private static final String END = """
            update simulated_effects set status = ?, updated_at = {now}
             where workspace_id = ? and id = ? and status = ?""".replace("{now}", DbClock.SQL);

    private static final String READ = """
            select id, status from simulated_effects where workspace_id = ? and kind = ? and id = any (?::uuid[])""";

    private final Database database;
    private final DbClock clock;

    public SimulatedProvider(Database database, DbClock clock) {
        this.database = database;
        this.clock = clock;
    }

    @Override
    public String name() {
        return "paper";
    }

    @Override
    public boolean idempotent(String type) {
        return true;
    }

    @Override
    public CommandOutcome execute(Effect effect) {
        try {
            return database.inTransaction(c -> switch (effect.type()) {
                case CommandTypes.DEPLOYMENT_CREATE -> make(c, effect, ResourceKind.DEPLOYMENT, "running");
                case CommandTypes.ORDER_PLACE -> make(c, effect, ResourceKind.ORDER,
                        effect.payload().path("type").asString("").equals("limit") ? "open" : "filled");
                case CommandTypes.DEPLOYMENT_STOP -> end(c, effect, ResourceKind.DEPLOYMENT, "running", "stopped");
                case CommandTypes.ORDER_CANCEL -> end(c, effect, ResourceKind.ORDER, "open", "cancelled");
                default -> new CommandOutcome.Refused("COMMAND_TYPE_UNKNOWN", "no adapter serves " + effect.type());
            });
        } catch (SqlFailure e) {
            return new CommandOutcome.Unknown("PAPER_FAILED", String.valueOf(e.getMessage()));
        }
    }

    private CommandOutcome make(Connection c, Effect effect, ResourceKind kind, String status) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(MAKE)) {
            s.setObject(1, effect.commandId());
            s.setObject(2, effect.workspaceId());
            s.setString(3, kind.word());
            s.setString(4, status);
            s.setString(5, effect.payload().toString());
            clock.bind(s, 6);
            s.executeUpdate();
        }
        return new CommandOutcome.Done(reference(effect.commandId()), document(effect.commandId(), status));
    }

    private CommandOutcome end(Connection c, Effect effect, ResourceKind kind, String from, String to)
            throws SQLException {
        UUID id = UUID.fromString(String.valueOf(effect.reference()).replaceFirst("^paper_", ""));
        try (PreparedStatement s = c.prepareStatement(END)) {
            s.setString(1, to);
            clock.bind(s, 2);
            s.setObject(3, effect.workspaceId());
            s.setObject(4, id);
            s.setString(5, from);
            s.executeUpdate();
        }
        String status = statuses(c, effect.workspaceId(), kind, id).get(id);
        return to.equals(status) ? new CommandOutcome.Done(reference(id), document(id, to))
                : new CommandOutcome.Refused("NOT_POSSIBLE_ANY_MORE", "the " + kind.word() + " is "
                        + (status == null ? "not known" : status));
    }

    @Override
    public Map<UUID, ObjectNode> read(UUID workspaceId, ResourceKind kind, Collection<Made> made) {
        UUID[] ids = made.stream().map(Made::id).toArray(UUID[]::new);
        Map<UUID, ObjectNode> found = new HashMap<>();
        database.withConnection(c -> statuses(c, workspaceId, kind, ids))
                .forEach((id, status) -> found.put(id, document(id, status)));
        return found;
    }

    private static Map<UUID, @Nullable String> statuses(Connection c, UUID workspace, ResourceKind kind, UUID... ids)
            throws SQLException {
        try (PreparedStatement s = c.prepareStatement(READ)) {
            s.setObject(1, workspace);
            s.setString(2, kind.word());
            s.setArray(3, c.createArrayOf("uuid", ids));
            Map<UUID, @Nullable String> found = new HashMap<>();
            try (ResultSet row = s.executeQuery()) {
                while (row.next()) {
                    found.put(row.getObject("id", UUID.class), row.getString("status"));
                }
            }
            return found;
        }
    }

    private static String reference(UUID id) {
        return "paper_" + id;
    }

    private static ObjectNode document(UUID id, String status) {
        return Json.object().put("id", reference(id)).put("status", status);
    }
}
