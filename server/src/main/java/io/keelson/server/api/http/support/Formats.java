package io.keelson.server.api.http.support;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.schedule.Cron;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.mission.plan.NameSuggestion;
import io.keelson.server.outlet.notice.MailAddress;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.outlet.webhook.Topics;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The formats of texts in requests that JSON Schema has no keyword for, by their names in {@code openapi.yaml}. */
final class Formats {

    private static final int FIRST_YEAR = 1970;
    private static final int LAST_YEAR = 9999;
    private static final Pattern DAY = Pattern.compile("\\d{4}-\\d\\d-\\d\\d");
    private static final Pattern TIME = Pattern.compile(DAY + "[Tt].{1,40}");
    private static final List<String> EVENTS = Stream.of(Stream.of(Topics.ALL), Topics.names().stream(),
            Arrays.stream(EventType.values()).map(EventType::wire)).flatMap(Function.identity()).toList();

    /** A problem of a text. */
    record Flaw(String code, String message) {}

    private Formats() {}

    /** Null when the text has the format; also for formats that the schema's keywords check. */
    static @Nullable Flaw flaw(String format, String text) {
        return switch (format) {
            case "date-time" -> isTime(text) ? null
                    : invalid("must be a time with its offset (RFC 3339), such as 2026-01-31T12:00:00Z");
            case "day-or-time" -> isDayOrTime(text) ? null
                    : invalid("must be a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z");
            case "cron" ->
                Cron.read(text) instanceof Cron.Reading.Refused(String why) ? new Flaw("INVALID_CRON", why) : null;
            case "time-zone" -> ZoneId.getAvailableZoneIds().contains(text) ? null
                    : invalid("'" + Excerpt.piece(text) + "' is not an IANA time zone such as Europe/Berlin or UTC");
            case "http-url" -> Endpoints.usable(text) ? null
                    : invalid("must be an http or https URL with a host, without user and password or a fragment");
            case "webhook-url" -> Endpoints.usable(text) || MailAddress.ofUrl(text) != null ? null
                    : invalid(
                            "must be an http or https URL with a host, without user and password or a fragment, or mailto:"
                                    + " and a mail address");
            case "name" -> SafeText.hidden(text) == null ? null
                    : new Flaw("INVALID_TEXT", "contains the control or format character " + SafeText.hidden(text));
            case "event" -> EVENTS.contains(text) ? null
                    : invalid("must be one of " + String.join(", ", Topics.names())
                            + ", the type of an event such as step_failed, or *" + NameSuggestion.hint(text, EVENTS));
            default -> null;
        };
    }

    private static Flaw invalid(String message) {
        return new Flaw("INVALID_VALUE", message);
    }

    private static boolean isTime(String text) {
        try {
            int year = OffsetDateTime.parse(text).getYear();
            return year >= FIRST_YEAR && year <= LAST_YEAR;
        } catch (DateTimeException e) {
            return false;
        }
    }

    /** Whether the text has the form of a day. */
    static boolean isDay(String text) {
        return DAY.matcher(text).matches();
    }

    private static boolean isDayOrTime(String text) {
        try {
            if (isDay(text)) {
                var _ = LocalDate.parse(text);
                return true;
            }
            var _ = OffsetDateTime.parse(text);
            return TIME.matcher(text).matches();
        } catch (DateTimeException e) {
            return false;
        }
    }
}
