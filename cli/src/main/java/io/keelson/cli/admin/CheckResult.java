package io.keelson.cli.admin;

import org.jspecify.annotations.Nullable;

/**
 * The result of a check of {@code doctor}.
 *
 * @param subject the checked object
 * @param advice the remedy; null if absent
 */
record CheckResult(Verdict verdict, String subject, String message, @Nullable String advice) {

    enum Verdict {
        OK, WARN, FAIL
    }

    static CheckResult ok(String subject, String message) {
        return new CheckResult(Verdict.OK, subject, message, null);
    }

    static CheckResult warn(String subject, String message, String advice) {
        return new CheckResult(Verdict.WARN, subject, message, advice);
    }

    static CheckResult fail(String subject, String message, String advice) {
        return new CheckResult(Verdict.FAIL, subject, message, advice);
    }
}
