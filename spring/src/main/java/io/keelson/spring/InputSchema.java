package io.keelson.spring;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.keelson.client.Json;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigInteger;
import java.net.URI;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Builds the JSON Schema of an object from Java types, for models of agents and for the check of a step's input. */
final class InputSchema {
    private static final Map<Class<?>, String> FORMATS = Map.of(UUID.class, "uuid", URI.class, "uri", Instant.class,
            "date-time", OffsetDateTime.class, "date-time", LocalDate.class, "date");
    private static final Set<Class<?>> INTEGERS = Set.of(byte.class, Byte.class, short.class, Short.class, int.class,
            Integer.class, long.class, Long.class, BigInteger.class);
    private static final Set<Class<?>> NUMBERS = Set.of(float.class, double.class);

    private final ObjectNode schema = Json.object().put("type", "object");
    private final ObjectNode properties = schema.putObject("properties");
    private final ArrayNode required = Json.object().putArray("required");
    /** The records around this object. A record inside itself has no schema, which would be endless. */
    private final Set<Class<?>> around;

    private InputSchema(Set<Class<?>> around) {
        this.around = around;
    }

    /** An object without members yet. */
    static InputSchema object() {
        return new InputSchema(Set.of());
    }

    /** Adds a member. It may be absent if it is an {@code Optional}, or one of its places has an annotation {@code Nullable}. */
    void member(String name, Type type, AnnotatedElement... places) {
        properties.set(name, of(type, around));
        if (raw(type) != Optional.class && Stream.of(places).noneMatch(InputSchema::nullable)) {
            required.add(name);
        }
    }

    ObjectNode schema() {
        if (!required.isEmpty()) {
            schema.set("required", required);
        }
        return schema.put("additionalProperties", false);
    }

    private static boolean nullable(AnnotatedElement place) {
        return Arrays.stream(place.getAnnotations()).map(Annotation::annotationType)
                .anyMatch(each -> each.getSimpleName().equals("Nullable"));
    }

    /** The schema of values of a type, without members if Jackson alone decides about them. */
    static ObjectNode of(Type type) {
        return of(type, Set.of());
    }

    private static ObjectNode of(Type type, Set<Class<?>> around) {
        Class<?> raw = raw(type);
        if (raw == Optional.class) {
            return of(argument(type, 0), around);
        }
        if (raw.isArray() || Collection.class.isAssignableFrom(raw)) {
            ObjectNode list = typed("array");
            list.set("items", of(raw.isArray() ? raw.getComponentType() : argument(type, 0), around));
            return list;
        }
        if (Map.class.isAssignableFrom(raw)) {
            ObjectNode map = typed("object");
            map.set("additionalProperties", of(argument(type, 1), around));
            return map;
        }
        if (raw.isRecord() && !around.contains(raw)) {
            Set<Class<?>> inner = new LinkedHashSet<>(around);
            inner.add(raw);
            InputSchema object = new InputSchema(inner);
            for (RecordComponent each : raw.getRecordComponents()) {
                JsonProperty renamed = each.getAccessor().getAnnotation(JsonProperty.class);
                object.member(renamed == null || renamed.value().isEmpty() ? each.getName() : renamed.value(),
                        each.getGenericType(), each, each.getAnnotatedType());
            }
            return object.schema();
        }
        return scalar(raw);
    }

    private static ObjectNode scalar(Class<?> type) {
        if (type.isEnum()) {
            ObjectNode text = typed("string");
            ArrayNode names = text.putArray("enum");
            Arrays.stream(type.getEnumConstants()).map(each -> Json.of(each).asString()).forEach(names::add);
            return text;
        }
        if (FORMATS.containsKey(type)) {
            return typed("string").put("format", FORMATS.get(type));
        }
        if (INTEGERS.contains(type)) {
            return typed("integer");
        }
        if (NUMBERS.contains(type) || Number.class.isAssignableFrom(type)) {
            return typed("number");
        }
        if (type == boolean.class || type == Boolean.class) {
            return typed("boolean");
        }
        return type == String.class || type == char.class ? typed("string") : Json.object();
    }

    private static ObjectNode typed(String type) {
        return Json.object().put("type", type);
    }

    private static Class<?> raw(Type type) {
        if (type instanceof Class<?> known) {
            return known;
        }
        return type instanceof ParameterizedType generic ? (Class<?>) generic.getRawType() : Object.class;
    }

    private static Type argument(Type type, int index) {
        return type instanceof ParameterizedType generic ? generic.getActualTypeArguments()[index] : Object.class;
    }
}
