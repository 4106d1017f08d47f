package io.keelson.core.plan;

import io.keelson.core.policy.Rate;
import org.jspecify.annotations.Nullable;

/**
 * A concurrency key: only a limited number of a workspace's runs with the same key are at work at a time, and begin within a period.
 *
 * @param limit maximum at work, this run included; at least 1
 * @param rate of the runs that begin; null without one
 */
public record Concurrency(String key, int limit, @Nullable Rate rate) {

    public Concurrency {
        if (limit < 1) {
            throw new IllegalArgumentException("no run could ever begin: " + limit);
        }
    }
}
