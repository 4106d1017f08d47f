package io.keelson.api.run;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The archived runs of a workspace.
 *
 * @param runs number of archived runs
 * @param objects number of objects in the artifact store that have them
 * @param bytes their size in the artifact store
 * @param oldest end of the run that ended first; null without archived runs
 * @param newest end of the run that ended last; null without archived runs
 */
public record Archive(long runs, int objects, long bytes, @Nullable Instant oldest, @Nullable Instant newest) {}
