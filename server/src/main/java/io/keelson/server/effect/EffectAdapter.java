package io.keelson.server.effect;

import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The way to the world outside. Only {@link CommandHandler} calls {@link #execute}. Safe for use by many threads. */
public interface EffectAdapter {

    /**
     * What is to be done.
     *
     * @param commandId also the id of what it makes
     * @param providerKey the same at each attempt, and no other command's
     * @param reference what the adapter called the deployment or order that is acted upon; null where there is none
     * @param repeated true when an earlier attempt may have arrived
     */
    record Effect(UUID workspaceId, UUID commandId, String type, String providerKey, ObjectNode payload,
            @Nullable String reference, boolean repeated) {}

    /** Something made before: our id, and what the adapter called it. */
    record Made(UUID id, String reference) {}

    /** Unique among adapters; stands in each command's row. */
    String name();

    /** Whether the same provider key twice has one effect. Only then is anything repeated that may have arrived. */
    boolean idempotent(String type);

    /** Does it once. An interrupt ends the call; nobody knows then whether it arrived. */
    Outcome execute(Effect effect) throws InterruptedException;

    /**
     * What has become of things, by our id, each with at least a {@code status}; those that it does not know are missing.
     *
     * @throws ProviderUnavailableException when it cannot be asked
     */
    Map<UUID, ObjectNode> read(UUID workspaceId, ResourceKind kind, Collection<Made> made)
            throws ProviderUnavailableException, InterruptedException;
}
