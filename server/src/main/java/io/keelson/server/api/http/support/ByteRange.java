package io.keelson.server.api.http.support;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A part of a content (RFC 9110 §14).
 *
 * @param from the first byte
 * @param length at least 1
 */
public record ByteRange(long from, long length) {

    private static final Pattern ONE = Pattern.compile("bytes=(\\d{0,18})-(\\d{0,18})");

    /**
     * The range of a request; null for the whole content, as for several ranges and for a header of another form.
     *
     * @param header {@code Range}
     * @param size of the content
     * @throws ApiProblem RANGE_NOT_SATISFIABLE if the range contains no byte of the content
     */
    public static @Nullable ByteRange of(@Nullable String header, long size) {
        Matcher given = ONE.matcher(header == null ? "" : header.strip());
        if (!given.matches() || given.group(1).isEmpty() && given.group(2).isEmpty()) {
            return null;
        }
        long last = given.group(2).isEmpty() ? Long.MAX_VALUE : Long.parseLong(given.group(2));
        boolean suffix = given.group(1).isEmpty();
        long from = suffix ? Math.max(0, size - last) : Long.parseLong(given.group(1));
        if (!suffix && last < from) {
            return null;
        }
        long end = suffix ? size : Math.min(size, Math.min(last, size) + 1);
        if (from >= size || end <= from) {
            throw ApiProblem.of(ErrorCode.RANGE_NOT_SATISFIABLE, "the content has " + size + " bytes")
                    .header("Content-Range", "bytes */" + size);
        }
        return new ByteRange(from, end - from);
    }

    /** As the header {@code Content-Range} of a content of that size. */
    public String header(long size) {
        return "bytes " + from + "-" + (from + length - 1) + "/" + size;
    }
}
