package io.keelson.cli.common;

import io.keelson.client.RunFilter;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The language of {@code --where}: conditions that all must hold, {@code name=value} with blanks between them; values with
 * blanks stand in double quotes. Times are compared by {@code created>} (then or later) and {@code created<} (earlier).
 */
public final class FilterParser {

    public static final String HELP =
            "Conditions, all of which must match: state, type, tag, name, text, recipe, trigger, external_id,"
                    + " error, each as name=value; created>TIME, created<TIME. Put a value with blanks in double quotes.";

    private static final Pattern CONDITION =
            Pattern.compile("\\s*([A-Za-z_]+)\\s*([=<>]|\\S)\\s*(?:\"([^\"]*)\"|([^\\s\"]+))(?=\\s|$)");

    private FilterParser() {}

    /** @throws CliException with the problem and its position */
    public static RunFilter parse(String text) {
        RunFilter filter = RunFilter.all();
        Matcher matcher = CONDITION.matcher(text);
        int at = 0;
        while (!text.substring(at).isBlank()) {
            if (!matcher.find(at) || matcher.start() != at) {
                throw wrong(text, at, "a condition such as state=failed is expected");
            }
            String value = matcher.group(3) == null ? matcher.group(4) : matcher.group(3);
            if (value.isEmpty()) {
                throw wrong(text, matcher.start(1), "the value of " + matcher.group(1) + " is empty");
            }
            filter = with(filter, matcher, value, text);
            at = matcher.end();
        }
        if (filter.equals(RunFilter.all())) {
            throw wrong(text, 0, "a condition such as state=failed is expected");
        }
        return filter;
    }

    private static RunFilter with(RunFilter filter, Matcher condition, String value, String text) {
        String name = condition.group(1);
        String operator = condition.group(2);
        int at = condition.start(1);
        if (name.equals("created")) {
            Instant time = time(value, text, at);
            return switch (operator) {
                case ">" -> once(filter, filter.createdAfter(), text, at, name).createdAfter(time);
                case "<" -> once(filter, filter.createdBefore(), text, at, name).createdBefore(time);
                default -> throw wrong(text, at, "created requires > or <");
            };
        }
        if (!operator.equals("=")) {
            throw wrong(text, at, name + " requires =");
        }
        return switch (name) {
            case "state" -> once(filter, filter.state(), text, at, name).state(value);
            case "type" -> once(filter, filter.stateType(), text, at, name).stateType(value);
            case "tag" -> filter.tag(value);
            case "name" -> once(filter, filter.name(), text, at, name).name(value);
            case "text" -> once(filter, filter.text(), text, at, name).text(value);
            case "recipe" -> once(filter, filter.recipeId(), text, at, name).recipeId(value);
            case "trigger" -> once(filter, filter.trigger(), text, at, name).trigger(value);
            case "external_id" -> once(filter, filter.externalId(), text, at, name).externalId(value);
            case "error" -> once(filter, filter.errorCode(), text, at, name).errorCode(value);
            default -> throw wrong(text, at, "unknown condition '" + name
                    + "': state, type, tag, name, text, created, recipe, trigger, external_id, error");
        };
    }

    private static RunFilter once(RunFilter filter, @Nullable Object before, String text, int at, String name) {
        if (before != null) {
            throw wrong(text, at, name + " is given twice; only tag is repeatable, and a run must have all tags");
        }
        return filter;
    }

    private static Instant time(String value, String text, int at) {
        try {
            return value.length() == 10 ? LocalDate.parse(value).atStartOfDay(ZoneOffset.UTC).toInstant()
                    : OffsetDateTime.parse(value).toInstant();
        } catch (DateTimeException e) {
            throw wrong(text, at, "'" + value + "' is not a time such as 2026-01-31 (in UTC) or 2026-01-31T12:00:00Z");
        }
    }

    private static CliException wrong(String text, int at, String what) {
        int shown = at;
        while (shown < text.length() && Character.isWhitespace(text.charAt(shown))) {
            shown++;
        }
        return CliException.usage("WHERE_INVALID", "--where, at character " + (shown + 1) + ": " + what);
    }
}
