package io.keelson.core.run;

import java.util.UUID;

/**
 * A signal that arrived before a step waited for it.
 *
 * @param payload JSON text, opaque to the core
 */
public record Signal(UUID id, String name, String payload) {}
