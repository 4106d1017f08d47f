package io.keelson.server.annex.effect;

import java.util.UUID;

/** The result of a request. */
sealed interface CommandResult {

    /** It was sent now; the command has the outcome. */
    record Sent(EffectCommand command) implements CommandResult {}

    /**
     * It had ended under this key before, or had been done to this target under another; the adapter was not called.
     */
    record Replayed(EffectCommand command) implements CommandResult {}

    /** The key belongs to another request. */
    record Conflict(EffectCommand command) implements CommandResult {}

    /** The first request under this key is in progress. */
    record InFlight(EffectCommand command) implements CommandResult {}

    /** There is no such deployment or order. */
    record NoTarget(ResourceKind kind, UUID id) implements CommandResult {}
}
