package io.keelson.bench.contender;

import org.jspecify.annotations.Nullable;

/**
 * What it answers, one line of JSON for each {@link Order}.
 *
 * @param failure what went wrong, whose stack trace is in the process's log; null when nothing did
 */
public record Answer(@Nullable WorkloadResult outcome, @Nullable String failure) {}
