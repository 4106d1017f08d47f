package io.keelson.server.annex.effect;

import io.keelson.server.annex.effect.EffectCommand.Source;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A validated request for a command.
 *
 * @param key null if absent
 * @param target the deployment or order that it acts on; null for a command that makes one
 * @param asker the requester
 */
record CommandRequest(UUID workspaceId, String type, Source source, @Nullable String key, ObjectNode payload,
        @Nullable UUID target, Asker asker) {

    /**
     * The requester.
     *
     * @param name a principal's, or the run's
     * @param runId null unless a step asks, as is {@code stepId}
     * @param origin for the audit log
     */
    public record Asker(String name, String kind, @Nullable UUID runId, @Nullable UUID stepId, AuditOrigin origin) {}
}
