package io.keelson.server.annex.effect;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Json;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/**
 * A simulated provider, stored in {@code simulated_effects}. Deterministic: deployments run until they are stopped,
 * market orders are filled at once, limit orders stay open until they are cancelled.
 */
final class SimulatedProvider implements EffectAdapter {

    private static final Sql MAKE = Sql.of("""
            insert into simulated_effects (id, workspace_id, kind, status, document, created_at, updated_at)
            select :id, :workspace, :kind, :status, :document::jsonb, now, now
              from (select {now} as now) as clock
            on conflict (id) do nothing""");

    private static final Sql END = Sql.of("""
            update simulated_effects set status = :status, updated_at = {now}
             where workspace_id = :workspace and id = :id and status = :from""");

    private static final Sql READ = Sql.of("""
            select id, status from simulated_effects where workspace_id = :workspace and kind = :kind
               and id = any (:ids::uuid[])""");

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
        MAKE.on(c).set("id", effect.commandId()).set("workspace", effect.workspaceId()).set("kind", kind.word())
                .set("status", status).set("document", effect.payload()).at(clock).update();
        return new CommandOutcome.Done(reference(effect.commandId()), document(effect.commandId(), status));
    }

    private CommandOutcome end(Connection c, Effect effect, ResourceKind kind, String from, String to)
            throws SQLException {
        UUID id = UUID.fromString(String.valueOf(effect.reference()).replaceFirst("^paper_", ""));
        END.on(c).set("status", to).at(clock).set("workspace", effect.workspaceId()).set("id", id).set("from", from)
                .update();
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

    private static Map<UUID, String> statuses(Connection c, UUID workspace, ResourceKind kind, UUID... ids)
            throws SQLException {
        record Status(UUID id, String status) {}
        return READ.on(c).set("workspace", workspace).set("kind", kind.word()).setUuids("ids", List.of(ids))
                .all(RecordColumns.of(Status.class)).stream()
                .collect(Collectors.toMap(Status::id, Status::status));
    }

    private static String reference(UUID id) {
        return "paper_" + id;
    }

    private static ObjectNode document(UUID id, String status) {
        return Json.object().put("id", reference(id)).put("status", status);
    }
}
