package io.keelson.server.api.http.support;

import io.keelson.server.base.json.Excerpt;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The query parameters of a request, which have the form that the OpenAPI document declares for the operation. A
 * parameter that is absent has its declared default. Reading an undeclared parameter is an error of the program.
 */
public final class Query {

    private final Map<String, QueryParameter> declared;
    private final Map<String, List<String>> values;

    /**
     * @param encoded the query as it was sent, of which {@code values} lack what cannot be decoded
     * @throws ApiProblem UNKNOWN_PARAMETER or INVALID_PARAMETER
     */
    Query(Map<String, QueryParameter> declared, Map<String, List<String>> values, @Nullable String encoded) {
        if (encoded != null && !decodable(encoded)) {
            throw ApiProblem.of(ErrorCode.INVALID_PARAMETER, "the query is not UTF-8 in valid percent-encoding");
        }
        for (String name : values.keySet()) {
            if (!declared.containsKey(name)) {
                throw refused(ErrorCode.UNKNOWN_PARAMETER, name, "unknown parameter '" + Excerpt.piece(name) + "'")
                        .allowing(declared.keySet().stream().sorted().toList());
            }
        }
        declared.values().forEach(each -> each.check(values.getOrDefault(each.name(), List.of())));
        this.declared = declared;
        this.values = values;
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

    /** Null where the parameter is absent and has no default. */
    @Nullable public String text(String name) {
        List<String> given = texts(name);
        return given.isEmpty() ? declared(name).absent() : given.getFirst();
    }

    /** The values of a parameter that may be repeated. */
    public List<String> texts(String name) {
        return values.getOrDefault(declared(name).name(), List.of());
    }

    public boolean given(String name) {
        return !texts(name).isEmpty();
    }

    private <T> @Nullable T read(String name, Function<String, T> reader) {
        String value = text(name);
        return value == null ? null : reader.apply(value);
    }

    @Nullable public Long integer(String name) {
        return read(name, Long::valueOf);
    }

    /** @param absent where the parameter is absent and has no default */
    public long integer(String name, long absent) {
        Long value = integer(name);
        return value == null ? absent : value;
    }

    /** The maximum number of items of a page; all where the parameter is absent and has no default. */
    public int limit() {
        return (int) integer("limit", Integer.MAX_VALUE);
    }

    /** False where the parameter is absent. */
    public boolean flag(String name) {
        return "true".equals(text(name));
    }

    /** The parameter's instant, of a day its start in UTC; null if absent. */
    @Nullable public Instant time(String name) {
        return read(name, Query::instant);
    }

    private static Instant instant(String value) {
        return Formats.isDay(value) ? LocalDate.parse(value).atStartOfDay(ZoneOffset.UTC).toInstant()
                : OffsetDateTime.parse(value).toInstant();
    }

    /** The UUID of an id, without the prefix of its kind; null where the parameter is absent. */
    @Nullable public UUID id(String name) {
        return read(name, RequestSchema::id);
    }

    /** The UUIDs of a parameter that may be repeated. */
    public List<UUID> ids(String name) {
        return texts(name).stream().map(RequestSchema::id).toList();
    }

    private QueryParameter declared(String name) {
        QueryParameter parameter = declared.get(name);
        if (parameter == null) {
            throw new IllegalStateException("the OpenAPI document declares no query parameter " + name);
        }
        return parameter;
    }

    /** The refusal of a value for reasons that a declaration cannot express. */
    public static ApiProblem invalid(String name, String what) {
        return refused(ErrorCode.INVALID_PARAMETER, name, "'" + name + "' " + what);
    }

    private static ApiProblem refused(ErrorCode code, String name, String detail) {
        return ApiProblem.of(code, detail).with("parameter", Excerpt.piece(name));
    }
}
