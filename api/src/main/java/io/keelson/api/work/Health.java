package io.keelson.api.work;

import io.keelson.api.Shape.OneOf;

/**
 * State of a server.
 *
 * @param status {@code ok} while the process lives, {@code ready} while it accepts runs
 */
public record Health(@OneOf({"ok", "ready"}) String status) {}
