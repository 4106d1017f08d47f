package io.keelson.server.http.support;

import io.keelson.server.json.Excerpt;
import io.keelson.server.json.SafeText;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The query parameters of a request. {@link #done} rejects unknown ones. */
public final class Query {

    static final int DEFAULT_LIMIT = 50;
    public static final int MAX_LIMIT = 500;
    private static final int MAX_LENGTH = 500;
    private static final Pattern DAY = Pattern.compile("\\d{4}-\\d\\d-\\d\\d");
    private static final Pattern TIME = Pattern.compile(DAY + "[Tt].{1,40}");

    private final Map<String, List<String>> values;
    private final @Nullable String encoded;
    private final Set<String> known = new HashSet<>();

    /** @param encoded the query as it was sent, of which {@code values} lack what cannot be decoded */
    Query(Map<String, List<String>> values, @Nullable String encoded) {
        this.values = values;
        this.encoded = encoded;
    }

    public void done() {
        if (encoded != null && !decodable(encoded)) {
            throw ApiProblem.of(ErrorCode.INVALID_PARAMETER, "the query is not UTF-8 in valid percent-encoding");
        }
        for (String name : values.keySet()) {
            if (!known.contains(name)) {
                throw refused(ErrorCode.UNKNOWN_PARAMETER, name, "unknown parameter '" + Excerpt.piece(name)
                        + "'").allowing(known.stream().sorted().toList());
            }
        }
    }

    private static boolean decodable(String encoded) {
        try {
            // As bytes of ISO 8859-1, so that the decoder checks each encoded sequence.
            byte[] bytes = URLDecoder.decode(encoded, StandardCharsets.ISO_8859_1)
                    .getBytes(StandardCharsets.ISO_8859_1);
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (IllegalArgumentException | CharacterCodingException e) {
            return false;
        }
    }

    @Nullable public String text(String name) {
        known.add(name);
        List<String> given = values.getOrDefault(name, List.of());
        if (given.isEmpty()) {
            return null;
        }
        String value = given.getFirst();
        if (given.size() > 1) {
            throw invalid(name, "is given more than once");
        }
        checked(name, value);
        return value;
    }

    /** Given any number of times up to {@code most}. */
    public List<String> texts(String name, int most) {
        known.add(name);
        List<String> given = values.getOrDefault(name, List.of());
        if (given.size() > most) {
            throw invalid(name, "is given more than " + most + " times");
        }
        given.forEach(value -> checked(name, value));
        return given;
    }

    private static void checked(String name, String value) {
        if (value.length() > MAX_LENGTH || !SafeText.clean(value).equals(value)) {
            throw invalid(name, "is too long or holds a character that is not allowed");
        }
    }

    /** One of the words; null where the parameter is absent. */
    @Nullable public String word(String name, List<String> words) {
        String value = text(name);
        if (value != null && !words.contains(value)) {
            throw invalid(name, "must be one of " + String.join(", ", words)).allowing(words);
        }
        return value;
    }

    public int limit() {
        return limit(DEFAULT_LIMIT);
    }

    public int limit(int absent) {
        return (int) integer("limit", 1, MAX_LIMIT, absent);
    }

    public long integer(String name, long min, long max, long absent) {
        String value = text(name);
        if (value == null) {
            return absent;
        }
        try {
            long number = Long.parseLong(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // refused below, as what is out of range
        }
        throw invalid(name, "must be a whole number from " + min + " to " + max);
    }

    /** A time (RFC 3339), or a day, which means its start in UTC; null if absent. */
    @Nullable public Instant time(String name) {
        String value = text(name);
        if (value == null) {
            return null;
        }
        try {
            if (DAY.matcher(value).matches()) {
                return LocalDate.parse(value).atStartOfDay(ZoneOffset.UTC).toInstant();
            }
            if (TIME.matcher(value).matches()) {
                return OffsetDateTime.parse(value).toInstant();
            }
        } catch (DateTimeException e) {
            // refused below, as what has another form
        }
        throw invalid(name, "must be a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z");
    }

    public static ApiProblem invalid(String name, String what) {
        return refused(ErrorCode.INVALID_PARAMETER, name, "'" + name + "' " + what);
    }

    private static ApiProblem refused(ErrorCode code, String name, String detail) {
        return ApiProblem.of(code, detail).with("parameter", Excerpt.piece(name));
    }
}
