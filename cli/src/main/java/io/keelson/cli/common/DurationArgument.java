package io.keelson.cli.common;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A time as people type it: {@code 90d}, {@code 12h}, {@code 30m}, {@code 45s}, {@code 0}. */
public final class DurationArgument implements ITypeConverter<Duration> {

    private static final Pattern FORM = Pattern.compile("(\\d{1,6})([dhms]?)");

    @Override
    public Duration convert(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches() || form.group(2).isEmpty() && !text.equals("0")) {
            throw new TypeConversionException("'" + text + "' is not a time such as 90d, 12h, 30m or 45s");
        }
        long number = Long.parseLong(form.group(1));
        return switch (form.group(2)) {
            case "d" -> Duration.ofDays(number);
            case "h" -> Duration.ofHours(number);
            case "m" -> Duration.ofMinutes(number);
            default -> Duration.ofSeconds(number);
        };
    }
}
