package io.keelson.cli;

import java.time.Duration;

/** Waiting a while between two looks. */
final class Pause {

    private Pause() {}

    static void of(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CliException.failed("INTERRUPTED", "interrupted", e);
        }
    }
}
