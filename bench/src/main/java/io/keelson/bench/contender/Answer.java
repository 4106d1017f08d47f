package io.keelson.bench.contender;

import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link Order}, one line of JSON.
 *
 * @param failure the error, whose stack trace is in the process's log; null if absent
 */
public record Answer(@Nullable WorkloadResult outcome, @Nullable String failure) {}
