package io.keelson.core.plan;

/**
 * A concurrency key: only a limited number of a workspace's runs with the same key are at work at a time.
 *
 * @param limit maximum, this run included; at least 1
 */
public record Concurrency(String key, int limit) {

    public Concurrency {
        if (limit < 1) {
            throw new IllegalArgumentException("no run could ever begin: " + limit);
        }
    }
}
