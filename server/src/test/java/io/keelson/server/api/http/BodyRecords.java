package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Compares the record of a request's body with its schema: every value that fits the schema can be bound to the record. */
final class BodyRecords {

    private static final Map<Class<?>, String> SCALARS = Map.of(String.class, "string", int.class, "integer",
            Integer.class, "integer", long.class, "integer", Long.class, "integer", boolean.class, "boolean",
            Boolean.class, "boolean", BigDecimal.class, "number", Double.class, "number");
    private static final Map<Class<?>, String> FORMATS =
            Map.of(UUID.class, "id", Instant.class, "date-time", byte[].class, "byte");

    private BodyRecords() {}

    /** @param schema without references */
    static void compare(JsonNode schema, Type type, String at) {
        switch (type) {
            case ParameterizedType generic -> compareGeneric(schema, generic, at);
            case Class<?> record when record.isRecord() -> compareRecord(schema, record, at);
            case Class<?> free when JsonNode.class.isAssignableFrom(free) -> {
                assertThat(schema.has("properties") || schema.has("enum")).as(at).isFalse();
                assertThat(types(schema)).as(at)
                        .isEqualTo(free == ObjectNode.class ? Set.of("object") : Set.of());
            }
            case Class<?> formatted when FORMATS.containsKey(formatted) ->
                assertThat(schema.path("format").asString("")).as(at).isEqualTo(FORMATS.get(formatted));
            case Class<?> scalar -> {
                assertThat(SCALARS).as(at).containsKey(scalar);
                assertThat(types(schema)).as(at).contains(SCALARS.get(scalar));
                if (SCALARS.get(scalar).equals("integer")) {
                    assertThat(schema.path("maximum").decimalValue(null)).as(at).isNotNull().isLessThanOrEqualTo(
                            BigDecimal.valueOf(scalar == int.class || scalar == Integer.class ? Integer.MAX_VALUE
                                    : Long.MAX_VALUE));
                }
            }
            default -> throw new AssertionError(at + " has the type " + type);
        }
    }

    private static void compareGeneric(JsonNode schema, ParameterizedType type, String at) {
        Type last = type.getActualTypeArguments()[type.getActualTypeArguments().length - 1];
        if (type.getRawType() == List.class) {
            assertThat(types(schema)).as(at).contains("array");
            compare(schema.path("items"), last, at + "/items");
        } else if (type.getRawType() == Map.class) {
            compare(schema.path("additionalProperties"), last, at + "/*");
        } else {
            assertThat(type.getRawType()).as(at).isEqualTo(Optional.class);
            assertThat(types(schema)).as(at).contains("null");
            compare(schema, last, at);
        }
    }

    private static void compareRecord(JsonNode schema, Class<?> type, String at) {
        assertThat(schema.path("additionalProperties").asBoolean(true)).as(at + " knows its members").isFalse();
        assertThat(schema.path("properties").propertyNames()).as(at).containsExactlyInAnyOrderElementsOf(
                Arrays.stream(type.getRecordComponents()).map(BodyRecords::member).toList());
        Set<String> required = schema.path("required").valueStream().map(JsonNode::stringValue)
                .collect(Collectors.toSet());
        for (RecordComponent component : type.getRecordComponents()) {
            String member = member(component);
            JsonNode of = schema.at("/properties/" + member);
            assertThat(required.contains(member) || of.has("default") || nullable(component))
                    .as(at + "/" + member + " may be null").isTrue();
            assertThat(types(of).contains("null") && component.getType() != Optional.class)
                    .as(at + "/" + member + " tells null from absent").isFalse();
            compare(of, component.getGenericType(), at + "/" + member);
        }
    }

    private static boolean nullable(RecordComponent component) {
        return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
    }

    private static Set<String> types(JsonNode schema) {
        JsonNode type = schema.path("type");
        return type.isArray() ? type.valueStream().map(JsonNode::stringValue).collect(Collectors.toSet())
                : type.isString() ? Set.of(type.stringValue()) : schema.has("enum") ? Set.of("string") : Set.of();
    }

    private static String member(RecordComponent component) {
        return component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }
}
