package io.keelson.server.api.http.support;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.mission.plan.SchemaCheck;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.ext.jdk8.Jdk8OptionalDeserializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.TypeDeserializer;
import tools.jackson.databind.module.SimpleDeserializers;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.type.ReferenceType;

/**
 * The published schema of one operation's request body: validates a body and binds it to a record, whose components have
 * the names of the schema's members in camel case. Compiled at the first use. Thread-safe.
 */
public final class RequestSchema {

    private static final int MAX_PROBLEMS = 100;

    private static final JsonMapper BINDER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .addModule(new SimpleModule().setDeserializers(new AbsentAsNull())
                    .addDeserializer(UUID.class, scalar(UUID.class, parser -> id(parser.getString())))
                    .addDeserializer(Instant.class,
                            scalar(Instant.class, parser -> OffsetDateTime.parse(parser.getString()).toInstant()))
                    .addDeserializer(JsonNode.class,
                            scalar(JsonNode.class, parser -> (JsonNode) parser.getEmbeddedObject()))
                    .addDeserializer(ObjectNode.class,
                            scalar(ObjectNode.class, parser -> (ObjectNode) parser.getEmbeddedObject())))
            .build();

    private record Compiled(RequestShape shape, SchemaCheck check) {}

    private final Supplier<ObjectNode> schema;
    private volatile @Nullable Compiled compiled;

    /** @param schema without references and {@code allOf}; called at the first use */
    RequestSchema(Supplier<ObjectNode> schema) {
        this.schema = schema;
    }

    /** @throws ApiProblem listing the problems of the body */
    <T> T read(JsonNode body, Class<T> type) {
        if (!(body instanceof ObjectNode object)) {
            throw ApiProblem.of("WRONG_TYPE", "", "the body must be an object");
        }
        Compiled current = compiled();
        Map<String, PlanProblem> problems = new LinkedHashMap<>();
        current.shape.normal(object, "",
                (code, at, message) -> problems.putIfAbsent(at, new PlanProblem(code, at, message)));
        current.check.check(object).forEach(each -> problems.putIfAbsent(each.pointer(), each));
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems.values().stream().limit(MAX_PROBLEMS).toList());
        }
        current.shape.embed(object);
        try {
            return BINDER.treeToValue(object, type);
        } catch (JacksonException e) {
            throw ApiProblem.of("INVALID_VALUE", pointer(e), "the value has not the form that is declared for it");
        }
    }

    private static String pointer(JacksonException failure) {
        return failure.getPath().stream()
                .map(each -> "/" + (each.getPropertyName() == null ? String.valueOf(each.getIndex())
                        : each.getPropertyName().replace("~", "~0").replace("/", "~1")))
                .collect(Collectors.joining());
    }

    /** The schema, as it is checked. */
    public ObjectNode schema() {
        return schema.get();
    }

    private Compiled compiled() {
        Compiled known = compiled;
        if (known == null) {
            ObjectNode whole = schema.get();
            known = new Compiled(RequestShape.of(whole), SchemaCheck.of(OpenApiDocument.assertions(whole), whole));
            compiled = known;
        }
        return known;
    }

    /** The UUID of an id with or without the prefix of its kind. */
    static UUID id(String text) {
        return UUID.fromString(text.substring(text.lastIndexOf('_') + 1));
    }

    private interface Reader<T> {
        T read(JsonParser parser);
    }

    private static <T> StdScalarDeserializer<T> scalar(Class<T> type, Reader<T> reader) {
        return new StdScalarDeserializer<>(type) {
            @Override
            public T deserialize(JsonParser parser, DeserializationContext context) {
                return reader.read(parser);
            }
        };
    }

    /** Binds absent members to a null instead of an empty {@link Optional}, which means a given null. */
    private static final class AbsentAsNull extends SimpleDeserializers {
        private static final long serialVersionUID = 1L;

        @Override
        public @Nullable ValueDeserializer<?> findReferenceDeserializer(ReferenceType type,
                DeserializationConfig config, BeanDescription.Supplier bean, @Nullable TypeDeserializer content,
                @Nullable ValueDeserializer<?> deserializer) {
            return type.hasRawClass(Optional.class) ? new Change(type, content, deserializer) : null;
        }

        private static final class Change extends Jdk8OptionalDeserializer {
            Change(JavaType type, @Nullable TypeDeserializer content, @Nullable ValueDeserializer<?> deserializer) {
                super(type, null, content, deserializer);
            }

            @Override
            public Jdk8OptionalDeserializer withResolved(TypeDeserializer content, ValueDeserializer<?> deserializer) {
                return new Change(_fullType, content, deserializer);
            }

            @Override
            public @Nullable Object getAbsentValue(DeserializationContext context) {
                return null;
            }
        }
    }

    /** All schemas of a document's request bodies. Thread-safe. */
    public static final class Table {
        private final ObjectNode document;
        private final Map<String, RequestSchema> byOperation = new ConcurrentHashMap<>();

        /** @param document OpenAPI */
        public Table(ObjectNode document) {
            this.document = document;
        }

        /** The schema of a route's body; null for a route that reads its body itself. */
        public @Nullable RequestSchema of(Route route) {
            if (route.body() == null) {
                return null;
            }
            JsonNode operation = OpenApiDocument.operation(document, route);
            return byOperation.computeIfAbsent(operation.path("operationId").asString(route.name()),
                    _ -> new RequestSchema(() -> OpenApiDocument.bodySchema(document, operation)));
        }

    }
}
