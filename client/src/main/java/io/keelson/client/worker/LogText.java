package io.keelson.client.worker;

import io.keelson.client.KeelsonException;
import java.time.Duration;
import java.util.Locale;

/** Parts of the worker's log lines. */
final class LogText {

    private static final String CHECK_URL = "check KEELSON_URL, or the url given in code";
    private static final String CHECK_KEY = "check KEELSON_API_KEY, or the key given in code";
    private static final int UNAUTHENTICATED = 401;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int MAX_CAUSES = 4;
    private static final double MILLIS = 1000;

    private LogText() {}

    /** {@code 1 result}, {@code 2 results}. */
    static String count(int number, String one) {
        return number + " " + one + (number == 1 ? "" : "s");
    }

    /** {@code 1.2 s}. */
    static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.1f s", time.toMillis() / MILLIS);
    }

    /** Code and message of a claim's error, with the remedy where one is known. */
    static String reason(KeelsonException e) {
        String message = String.valueOf(e.getMessage());
        return (message.startsWith(e.code()) ? message : e.code() + ": " + message) + switch (e.status()) {
            case UNAUTHENTICATED -> "; " + CHECK_KEY;
            case FORBIDDEN -> "; the key of a worker needs the scope work; " + CHECK_KEY;
            case NOT_FOUND -> "; " + CHECK_URL;
            default -> ofConnection(e.code());
        };
    }

    /** The message of an error, without its code. */
    static String detail(KeelsonException e) {
        String message = String.valueOf(e.getMessage());
        return message.startsWith(e.code() + ": ") ? message.substring(e.code().length() + 2) : message;
    }

    /** Type and message of an exception and of its causes. */
    static String causes(Throwable e) {
        StringBuilder text = new StringBuilder(line(e));
        Throwable cause = e.getCause();
        for (int i = 1; i < MAX_CAUSES && cause != null; i++) {
            if (text.indexOf(line(cause)) < 0) {
                text.append("; cause: ").append(line(cause));
            }
            cause = cause.getCause();
        }
        return text.toString();
    }

    private static String line(Throwable e) {
        String text = e.toString();
        return text.endsWith(": ") ? text.substring(0, text.length() - 2) : text;
    }

    private static String ofConnection(String code) {
        return switch (code) {
            case "SERVER_UNREACHABLE" -> "; start it with 'keelson server', or " + CHECK_URL;
            case "CONNECTION_LOST" -> "; if this lasts, " + CHECK_URL
                    + ": the address of a server of HTTPS begins with https://";
            case "BAD_ANSWER" -> "; " + CHECK_URL;
            default -> "";
        };
    }
}
