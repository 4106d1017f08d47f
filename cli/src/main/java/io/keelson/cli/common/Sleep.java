package io.keelson.cli.common;

import java.time.Duration;

/** Waiting a while between two looks. */
public final class Sleep {

    private Sleep() {}

    public static void of(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CliException.failed("INTERRUPTED", "interrupted", e);
        }
    }
}
