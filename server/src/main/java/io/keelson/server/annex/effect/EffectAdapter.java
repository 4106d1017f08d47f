package io.keelson.server.annex.effect;

import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Connects to an external system. Only {@link CommandHandler} calls {@link #execute}. Thread-safe. */
interface EffectAdapter {

    /**
     * The effect to execute.
     *
     * @param commandId also the id of the resource that it makes
     * @param providerKey the same at each attempt, and no other command's
     * @param reference the adapter's name for the target; null if absent
     * @param repeated true when an earlier attempt may have arrived
     */
    record Effect(UUID workspaceId, UUID commandId, String type, String providerKey, ObjectNode payload,
            @Nullable String reference, boolean repeated) {}

    /** A resource made before: our id, and the adapter's name for it. */
    record Made(UUID id, String reference) {}

    /** Unique among adapters; part of each command's row. */
    String name();

    /** Whether the same provider key twice has one effect. Only then is a command repeated that may have arrived. */
    boolean idempotent(String type);

    /** Executes it once. An interrupt aborts the call; it is then unknown whether it arrived. */
    CommandOutcome execute(Effect effect) throws InterruptedException;

    /**
     * The current state of resources, by our id, each with at least a {@code status}; unknown ones are missing.
     *
     * @throws ProviderUnavailableException when it cannot be reached
     */
    Map<UUID, ObjectNode> read(UUID workspaceId, ResourceKind kind, Collection<Made> made)
            throws ProviderUnavailableException, InterruptedException;
}
