package io.keelson.server.effect;

import java.util.UUID;

/** What becomes of a request. */
public sealed interface CommandResult {

    /** It was sent now; the command says what came of it. */
    record Sent(EffectCommand command) implements CommandResult {}

    /** It had ended under this key before, or had been done to this target under another; nobody was called. */
    record Replayed(EffectCommand command) implements CommandResult {}

    /** The key belongs to another request. */
    record Conflict(EffectCommand command) implements CommandResult {}

    /** The first request under this key is under way. */
    record InFlight(EffectCommand command) implements CommandResult {}

    /** There is no such deployment or order. */
    record NoTarget(ResourceKind kind, UUID id) implements CommandResult {}
}
