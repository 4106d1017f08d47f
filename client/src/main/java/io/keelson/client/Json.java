package io.keelson.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape;
import io.keelson.api.run.Run;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Between Java values and JSON. Your own classes keep their property names; the API's documents are snake_case. Numbers
 * with a fraction are read exactly, as decimals.
 */
public final class Json {

    private static final JsonMapper VALUES = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();
    private static final JsonMapper DOCUMENTS = VALUES.rebuild()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();
    private static final JsonMapper REQUESTS = DOCUMENTS.rebuild()
            .annotationIntrospector(new OmittedDefaults())
            .changeDefaultPropertyInclusion(include -> include.withValueInclusion(JsonInclude.Include.NON_NULL))
            .build();

    private Json() {}

    /** Omits members that have the default value of their type, if they have a default in the API. */
    private static final class OmittedDefaults extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1L;

        @Override
        public JsonInclude.Value findPropertyInclusion(MapperConfig<?> config, Annotated annotated) {
            return annotated instanceof AnnotatedMember member && hasDefault(member)
                    ? JsonInclude.Value.construct(JsonInclude.Include.NON_DEFAULT, null)
                    : super.findPropertyInclusion(config, annotated);
        }

        private static boolean hasDefault(AnnotatedMember member) {
            RecordComponent[] components = member.getDeclaringClass().getRecordComponents();
            return components != null && Arrays.stream(components).anyMatch(component -> component.getName()
                    .equals(member.getName()) && component.isAnnotationPresent(Shape.Default.class));
        }
    }

    /** An empty object. */
    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /**
     * Any value that Jackson can write: maps, collections, records, beans, scalars, {@link JsonNode}s.
     *
     * @throws IllegalArgumentException when Jackson cannot write it, or it contains itself
     */
    public static JsonNode of(@Nullable Object value) {
        if (value == null) {
            return NullNode.getInstance();
        }
        try {
            return value instanceof JsonNode node ? node : VALUES.valueToTree(value);
        } catch (JacksonException e) {
            throw new IllegalArgumentException("not writable as JSON: " + e.getOriginalMessage(), e);
        } catch (StackOverflowError e) {
            throw new IllegalArgumentException("not writable as JSON: it contains itself, or is nested too deeply", e);
        }
    }

    /**
     * A JSON value as a class of yours.
     *
     * @throws IllegalArgumentException when it does not fit
     */
    public static <T> T to(JsonNode node, Class<T> type) {
        try {
            return VALUES.treeToValue(node, type);
        } catch (JacksonException e) {
            throw new IllegalArgumentException(
                    "not of the type " + type.getSimpleName() + ": " + e.getOriginalMessage(), e);
        }
    }

    /**
     * A JSON value as a type of yours, such as a list of records.
     *
     * @throws IllegalArgumentException when it does not fit
     */
    public static Object to(JsonNode node, Type type) {
        try {
            return VALUES.treeToValue(node, VALUES.constructType(type));
        } catch (JacksonException e) {
            throw new IllegalArgumentException("not of the type " + type.getTypeName() + ": " + e.getOriginalMessage(),
                    e);
        }
    }

    /** One of the API's documents, such as a {@link Run}, as the API writes it. */
    public static JsonNode document(Object document) {
        return DOCUMENTS.valueToTree(document);
    }

    /**
     * A request of the API, without members that are null or that the server sets to the same value by default; an empty
     * {@code Optional} is a given null.
     */
    public static ObjectNode request(Record request) {
        return REQUESTS.valueToTree(request);
    }

    /**
     * One of the API's documents as its record.
     *
     * @throws JacksonException if a value does not have the type of its member
     */
    public static <T> T document(JsonNode node, Class<T> type) {
        return DOCUMENTS.treeToValue(node, type);
    }

    static JsonNode parse(byte[] body) {
        return VALUES.readTree(body);
    }

    static byte[] bytes(JsonNode node) {
        return VALUES.writeValueAsBytes(node);
    }

    static JsonNode orNull(@Nullable JsonNode node) {
        return node == null ? NullNode.getInstance() : node;
    }
}
