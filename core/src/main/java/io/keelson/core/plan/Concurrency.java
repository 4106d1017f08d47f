package io.keelson.core.plan;

/**
 * Under which key a run takes its turn: of the runs of a workspace with the same key only so many are at work at a time.
 *
 * @param limit so many, this run included; at least 1
 */
public record Concurrency(String key, int limit) {

    public Concurrency {
        if (limit < 1) {
            throw new IllegalArgumentException("no run could ever begin: " + limit);
        }
    }
}
