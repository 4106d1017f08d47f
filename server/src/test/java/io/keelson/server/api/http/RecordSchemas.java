package io.keelson.server.api.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape;
import io.keelson.server.base.json.Json;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The JSON Schemas of the records of the API: types, nullability and constraints by reflection, descriptions from javadoc. */
final class RecordSchemas {

    private static final Map<Class<?>, String> TYPES = Map.ofEntries(Map.entry(String.class, "string"),
            Map.entry(int.class, "integer"), Map.entry(Integer.class, "integer"), Map.entry(long.class, "integer"),
            Map.entry(Long.class, "integer"), Map.entry(boolean.class, "boolean"), Map.entry(Boolean.class, "boolean"),
            Map.entry(BigDecimal.class, "number"), Map.entry(double.class, "number"), Map.entry(Double.class, "number"),
            Map.entry(Instant.class, "string"), Map.entry(UUID.class, "string"), Map.entry(ObjectNode.class, "object"));
    private static final String ID = "^([a-z]+_)?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

    private RecordSchemas() {}

    /** The name of a record's schema: a nested record has the name of its outer one before its own. */
    static String name(Class<?> record) {
        Class<?> outer = record.getDeclaringClass();
        return (outer == null ? "" : name(outer)) + record.getSimpleName();
    }

    /** @param docs javadoc of the record */
    static ObjectNode of(Class<?> record, RecordDocs docs) {
        boolean request = record.isAnnotationPresent(Shape.Request.class);
        ObjectNode schema = Json.object().put("type", "object").put("description", docs.text(record, ""));
        if (request || record.isAnnotationPresent(Shape.Closed.class)) {
            schema.put("additionalProperties", false);
        }
        ArrayNode required = Json.array();
        ObjectNode members = Json.object();
        for (RecordComponent component : record.getRecordComponents()) {
            String member = member(component.getName());
            if (isRequired(component, request)) {
                required.add(member);
            }
            ObjectNode of = of(component, request);
            members.set(member, of.put("description", docs.text(record, component.getName())));
        }
        if (!required.isEmpty()) {
            schema.set("required", required);
        }
        return schema.set("properties", members);
    }

    /** A name in snake case. */
    private static String member(String component) {
        return component.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    private static boolean isRequired(RecordComponent component, boolean request) {
        return request ? !isNullable(component.getAnnotatedType())
                && !component.isAnnotationPresent(Shape.Default.class)
                : !component.isAnnotationPresent(Shape.Omittable.class) && !isAbsentIfNull(component);
    }

    private static boolean isAbsentIfNull(RecordComponent component) {
        JsonInclude include = component.getAccessor().getAnnotation(JsonInclude.class);
        JsonInclude all = component.getDeclaringRecord().getAnnotation(JsonInclude.class);
        return include != null && include.value() == JsonInclude.Include.NON_NULL
                || all != null && all.value() == JsonInclude.Include.NON_NULL
                        && isNullable(component.getAnnotatedType());
    }

    private static boolean isNullable(AnnotatedElement type) {
        return type.isAnnotationPresent(Nullable.class);
    }

    private static ObjectNode of(RecordComponent component, boolean request) {
        AnnotatedType type = component.getAnnotatedType();
        ObjectNode schema = of(type, !request && isNullable(type) && !isAbsentIfNull(component), request);
        Shape.Default absent = component.getAnnotation(Shape.Default.class);
        if (absent != null) {
            schema.set("default", raw(type.getType()) == String.class ? Json.string(absent.value())
                    : Json.read(absent.value()));
        }
        return schema;
    }

    private static AnnotatedType argument(AnnotatedType type) {
        AnnotatedType[] arguments = ((AnnotatedParameterizedType) type).getAnnotatedActualTypeArguments();
        return arguments[arguments.length - 1];
    }

    private static AnnotatedType firstArgument(AnnotatedType type) {
        return ((AnnotatedParameterizedType) type).getAnnotatedActualTypeArguments()[0];
    }

    private static Class<?> raw(Type type) {
        return (Class<?>) (type instanceof ParameterizedType generic ? generic.getRawType() : type);
    }

    private static ObjectNode of(AnnotatedType type, boolean nullable, boolean request) {
        Class<?> raw = raw(type.getType());
        if (raw == Optional.class) {
            return of(argument(type), true, request);
        }
        Shape.Ref ref = type.getAnnotation(Shape.Ref.class);
        if (ref != null || raw.isRecord()) {
            ObjectNode reference = reference(ref != null ? ref.value() : name(raw), nullable);
            bounds(reference, type, "Properties");
            return reference;
        }
        ObjectNode schema = Json.object();
        Shape.OneOf words = type.getAnnotation(Shape.OneOf.class);
        if (words != null) {
            if (nullable && request) {
                type(schema, "string", true);
            }
            ArrayNode all = schema.putArray("enum");
            List.of(words.value()).forEach(all::add);
            return nullable ? schema.set("enum", all.addNull()) : schema;
        }
        if (raw == List.class || raw == Map.class) {
            type(schema, raw == List.class ? "array" : "object", nullable);
            bounds(schema, type, raw == List.class ? "Items" : "Properties");
            Shape.Text name = raw == Map.class ? firstArgument(type).getAnnotation(Shape.Text.class) : null;
            if (name != null) {
                text(schema.putObject("propertyNames"), name);
            }
            return schema.set(raw == List.class ? "items" : "additionalProperties",
                    of(argument(type), isNullable(argument(type)), request));
        }
        Shape.Types types = type.getAnnotation(Shape.Types.class);
        if (types != null && types.value().length == 1) {
            schema.put("type", types.value()[0]);
        } else if (types != null) {
            schema.set("type", Json.strings(List.of(types.value())));
        }
        if (raw != JsonNode.class) {
            String name = TYPES.get(raw);
            if (name == null) {
                throw new IllegalStateException("no schema of " + raw);
            }
            type(schema, name, nullable);
        }
        if (raw == Instant.class) {
            schema.put("format", "date-time");
        }
        constraints(schema, type, raw, request);
        return schema;
    }

    private static ObjectNode reference(String name, boolean nullable) {
        ObjectNode reference = Json.object().put("$ref", "#/components/schemas/" + name);
        if (!nullable) {
            return reference;
        }
        ObjectNode either = Json.object();
        either.putArray("anyOf").add(reference).add(Json.object().put("type", "null"));
        return either;
    }

    private static void type(ObjectNode schema, String name, boolean nullable) {
        if (nullable) {
            schema.putArray("type").add(name).add("null");
        } else {
            schema.put("type", name);
        }
    }

    private static void bounds(ObjectNode schema, AnnotatedType type, String suffix) {
        Shape.Size size = type.getAnnotation(Shape.Size.class);
        if (size != null && size.min() > 0) {
            schema.put("min" + suffix, size.min());
        }
        if (size != null && size.max() >= 0) {
            schema.put("max" + suffix, size.max());
        }
    }

    private static void constraints(ObjectNode schema, AnnotatedType type, Class<?> raw, boolean request) {
        if (type.isAnnotationPresent(Shape.Id.class) || raw == UUID.class) {
            schema.put("format", request ? "id" : "uuid");
            if (request) {
                schema.put("pattern", ID);
            }
        }
        Shape.Text text = type.getAnnotation(Shape.Text.class);
        if (text != null) {
            text(schema, text);
        }
        Shape.Range range = type.getAnnotation(Shape.Range.class);
        if (range != null && range.min() != Long.MIN_VALUE) {
            schema.put("minimum", range.min());
        }
        if (range != null && range.max() != Long.MAX_VALUE) {
            schema.put("maximum", range.max());
        } else if (request && (raw == int.class || raw == Integer.class)) {
            schema.put("maximum", Integer.MAX_VALUE);
        } else if (request && (raw == long.class || raw == Long.class)) {
            schema.put("maximum", Long.MAX_VALUE);
        }
        if (range != null && range.decimals() >= 0) {
            schema.put("multipleOf", BigDecimal.ONE.movePointLeft(range.decimals()));
        }
        Shape.MaxCharacters characters = type.getAnnotation(Shape.MaxCharacters.class);
        if (characters != null) {
            schema.put("x-max-characters", characters.value());
        }
    }

    private static void text(ObjectNode schema, Shape.Text text) {
        if (!text.format().isEmpty()) {
            schema.put("format", text.format());
        }
        if (!text.pattern().isEmpty()) {
            schema.put("pattern", text.pattern());
        }
        if (text.min() > 0) {
            schema.put("minLength", text.min());
        }
        if (text.max() >= 0) {
            schema.put("maxLength", text.max());
        }
        if (text.cleaned()) {
            schema.put("x-cleaned", true);
        }
    }
}
