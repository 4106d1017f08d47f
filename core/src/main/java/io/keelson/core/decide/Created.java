package io.keelson.core.decide;

import io.keelson.core.run.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The result of creating a run.
 *
 * @param view for further commands; null when the run was refused and does not exist
 */
public record Created(Reply reply, @Nullable RunView view) {}
