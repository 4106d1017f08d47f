package io.keelson.cli;

import org.jspecify.annotations.Nullable;

/**
 * What a check of {@code doctor} found.
 *
 * @param subject what was looked at
 * @param advice what to do; null where nothing is to be done
 */
record Finding(Verdict verdict, String subject, String message, @Nullable String advice) {

    enum Verdict {
        OK, WARN, FAIL
    }

    static Finding ok(String subject, String message) {
        return new Finding(Verdict.OK, subject, message, null);
    }

    static Finding warn(String subject, String message, String advice) {
        return new Finding(Verdict.WARN, subject, message, advice);
    }

    static Finding fail(String subject, String message, String advice) {
        return new Finding(Verdict.FAIL, subject, message, advice);
    }
}
