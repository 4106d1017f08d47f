package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.base.json.Json;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A stored trigger.
 *
 * @param recipeId recipe of its runs; null for a mission of its own
 * @param definition as {@link Trigger.Definition}
 */
record TriggerRow(UUID id, UUID workspaceId, String name, @Nullable UUID recipeId, ObjectNode definition,
        boolean enabled, int version, String createdBy, Instant createdAt, Instant updatedAt) {

    /** The definition as a record. */
    Trigger.Definition read() {
        ObjectNode whole = definition.deepCopy().put("name", name).put("enabled", enabled);
        return Json.MAPPER.treeToValue(whole, Trigger.Definition.class);
    }

    /** The column {@code definition}: the members without a column. */
    static ObjectNode columns(Trigger.Definition given) {
        ObjectNode document = Json.document(given);
        document.remove("name");
        document.remove("enabled");
        return document;
    }

    /** The path at which it receives events; null if no request brings them. */
    private static @Nullable String path(String kind, UUID id) {
        return switch (kind) {
            case "event" -> "/api/v1/events";
            case "run" -> null;
            default -> "/hooks/" + IdKind.TRIGGER.prefixed(id);
        };
    }

    /** Whether the source is the ends of runs. */
    static boolean ofRuns(Trigger.Definition definition) {
        return definition.source().kind().equals("run");
    }

    /** The whole document, as the API shows it. */
    ObjectNode document() {
        Trigger.Definition given = read();
        Trigger.NewSource source = given.source();
        Trigger.Example example = given.example();
        return Json.document(new Trigger(id.toString(), workspaceId.toString(), name,
                path(source.kind(), id),
                new Trigger.Source(source.kind(), source.secrets(), source.header(), source.user(), source.event(),
                        source.toleranceSeconds()),
                given.key(), given.filter(), recipeId == null ? null : recipeId.toString(), given.mission(),
                given.signal() == null ? null : Json.document(given.signal()), given.inputs(), given.priority(),
                given.flow() == null ? null : Json.document(given.flow()),
                example == null ? null : Json.document(example), enabled, version, createdBy,
                createdAt, updatedAt));
    }

    /** The document in lists. */
    ObjectNode listItem() {
        ObjectNode document = document();
        document.remove("mission");
        document.remove("example");
        return document;
    }
}
