package io.keelson.core.run;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A position in a caller's trace, in the format of W3C Trace Context's {@code traceparent} header. No decision depends
 * on it.
 *
 * @param trace 32 hex digits, not all zero
 * @param span 16 hex digits, not all zero: the parent of spans for its run
 * @param sampled whether the caller may have recorded it
 */
public record TraceParent(String trace, String span, boolean sampled) {

    private static final Pattern HEADER =
            Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");
    private static final String UNUSED_VERSION = "ff";
    private static final int MAX_LENGTH = 512;

    /**
     * Parses a header; null for values that W3C Trace Context says to ignore. Of later versions only this version's
     * fields are read.
     */
    public static @Nullable TraceParent parse(@Nullable String header) {
        if (header == null || header.length() > MAX_LENGTH) {
            return null;
        }
        Matcher parts = HEADER.matcher(header);
        if (!parts.matches() || parts.group(1).equals(UNUSED_VERSION)
                || parts.group(1).equals("00") && parts.group(5) != null || zero(parts.group(2))
                || zero(parts.group(3))) {
            return null;
        }
        return new TraceParent(parts.group(2), parts.group(3), (Integer.parseInt(parts.group(4), 16) & 1) == 1);
    }

    private static boolean zero(String hex) {
        return hex.chars().allMatch(digit -> digit == '0');
    }

    /** Another position in the same trace. */
    public TraceParent at(String otherSpan) {
        return new TraceParent(trace, otherSpan, sampled);
    }

    /** The header's text. */
    public String text() {
        return "00-" + trace + "-" + span + (sampled ? "-01" : "-00");
    }
}
