package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelException.Kind;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Tells what an error of a provider means: by its code before its status, as a 429 may be a limit of the rate, which passes, or of the
 * account's money, which does not.
 */
final class Failures {
    private static final int MAX_MESSAGE = 500;
    private static final int SERVER_ERROR = 500;
    private static final Set<String> QUOTA_CODES = Set.of("insufficient_quota", "billing_hard_limit_reached",
            "billing_not_active", "billing_error", "quota_exceeded", "insufficient_balance");
    private static final Set<String> BUSY_CODES = Set.of("rate_limit_exceeded", "rate_limit_error", "overloaded_error",
            "server_is_overloaded", "service_unavailable_error", "slow_down");
    private static final Set<String> OVERFLOW_CODES = Set.of("context_length_exceeded", "string_above_max_length",
            "request_too_large");
    private static final Pattern OVERFLOW =
            Pattern.compile(
                    "prompt is too long|maximum context length|context (window|length|limit)|too many input tokens");
    private static final Pattern QUOTA = Pattern.compile("credit balance is too low|exceeded your current quota|"
            + "reached your specified api usage limits|insufficient balance");
    private static final Set<String> KEY_CODES = Set.of("invalid_api_key", "authentication_error", "permission_error");
    private static final Pattern WRONG_KEY = Pattern.compile("api key not valid|(invalid|incorrect) api key");
    private static final Pattern SECONDS = Pattern.compile("\\d{1,12}(\\.\\d{1,9})?");

    private Failures() {}

    /**
     * The failure that a response other than 200 means, or an error in a stream.
     *
     * @param status of HTTP; 500 for an error in a stream
     * @param headers names in lower case
     * @param error with {@code message} and {@code type} or {@code code}, as far as they are known
     * @param usage that the provider has reported before it; null if absent
     * @param secrets replaced in the message
     */
    static ModelException of(int status, Map<String, String> headers, JsonNode error, @Nullable Tokens usage,
            List<String> secrets, Clock clock) {
        String said = error.path("message").asString("");
        Kind kind = kind(status, headers.getOrDefault("x-should-retry", ""), code(error, "code"), code(error, "type"),
                said.toLowerCase(Locale.ROOT));
        String message = "the provider answers " + status + (said.isEmpty() ? "" : ": " + said);
        return new ModelException(kind, shown(message, secrets),
                kind == Kind.DEFERRED ? retryAfter(headers, clock) : null, usage, requestId(headers));
    }

    private static String code(JsonNode error, String member) {
        return error.path(member).asString("");
    }

    private static Kind kind(int status, String shouldRetry, String code, String type, String message) {
        if (QUOTA_CODES.contains(code) || QUOTA_CODES.contains(type) || QUOTA.matcher(message).find()
                || status == 402) {
            return Kind.QUOTA;
        }
        if (OVERFLOW_CODES.contains(code) || OVERFLOW_CODES.contains(type)
                || status < SERVER_ERROR && status != 429 && OVERFLOW.matcher(message).find()) {
            return Kind.CONTEXT_OVERFLOW;
        }
        boolean useless = shouldRetry.equals("false");
        if (status == 429 && useless) {
            return Kind.QUOTA;
        }
        if (status == 401 || status == 403 || KEY_CODES.contains(code) || KEY_CODES.contains(type)
                || status == 400 && WRONG_KEY.matcher(message).find()) {
            return Kind.KEY_REFUSED;
        }
        if (status == 429 || status == 503 || status == 529 || BUSY_CODES.contains(code) || BUSY_CODES.contains(type)) {
            return useless ? Kind.BAD_REQUEST : Kind.DEFERRED;
        }
        boolean passing = status >= SERVER_ERROR || status == 408 || status == 409 || shouldRetry.equals("true");
        return passing && !useless ? Kind.UNAVAILABLE : Kind.BAD_REQUEST;
    }

    /** A message of bounded length without secrets. */
    static String shown(String message, List<String> secrets) {
        String without = redacted(message, secrets);
        return without.length() <= MAX_MESSAGE ? without
                : without.substring(0, without.offsetByCodePoints(0, MAX_MESSAGE / 2)) + "…";
    }

    /** A text of the provider without secrets. */
    static String redacted(String text, List<String> secrets) {
        String without = text;
        for (String secret : secrets) {
            without = secret.isEmpty() ? without : without.replace(secret, "***");
        }
        return without;
    }

    static @Nullable String requestId(Map<String, String> headers) {
        return headers.getOrDefault("x-request-id", headers.get("request-id"));
    }

    /** The pause that the provider asks for: milliseconds, seconds or a date; null if absent that can be read. */
    static @Nullable Duration retryAfter(Map<String, String> headers, Clock clock) {
        String millis = headers.getOrDefault("retry-after-ms", "").strip();
        if (SECONDS.matcher(millis).matches()) {
            return Duration.ofMillis(new BigDecimal(millis).longValue());
        }
        String after = headers.getOrDefault("retry-after", "").strip();
        if (SECONDS.matcher(after).matches()) {
            return Duration.ofMillis(new BigDecimal(after).movePointRight(3).longValue());
        }
        try {
            Duration until = Duration.between(clock.instant(),
                    ZonedDateTime.parse(after, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
            return until.isNegative() ? Duration.ZERO : until;
        } catch (DateTimeException e) {
            return null;
        }
    }
}
