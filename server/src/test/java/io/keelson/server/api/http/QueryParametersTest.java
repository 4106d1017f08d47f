package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.api.http.support.OpenApiDocument;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Each operation accepts the query parameters that the document declares for it, in their bounds. Operations that need
 * a key refuse others.
 */
@Breadth.Spread
class QueryParametersTest {

    private static final ObjectNode DOCUMENT = OpenApi.document();
    private static final String NO_ID = "00000000-0000-0000-0000-000000000000";

    @TempDir
    private static Path folder;

    private static ApiServer api;

    /** @param parameters by name, without references */
    private record Operation(String method, String path, Map<String, JsonNode> parameters, boolean needsNoKey) {

        /** The query with the values, and with what the operation needs to answer at once. */
        Answer ask(Map<String, List<String>> values) {
            Map<String, List<String>> all = new TreeMap<>();
            parameters.forEach((name, parameter) -> {
                if (parameter.path("required").asBoolean(false) || name.equals("wait_ms")) {
                    all.put(name, List.of(valid(parameter)));
                }
            });
            all.putAll(values);
            String query = all.entrySet().stream().flatMap(each -> each.getValue().stream()
                    .map(value -> each.getKey() + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8)))
                    .collect(Collectors.joining("&"));
            return api.send(method, path.replaceAll("\\{\\w+}", NO_ID) + "?" + query, null);
        }
    }

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void undeclaredParametersAreRefused() {
        for (Operation operation : operations()) {
            Answer answer = operation.ask(Map.of("nonsense", List.of("1")));

            if (operation.needsNoKey) {
                assertThat(answer.status()).as(operation.toString()).isEqualTo(200);
            } else {
                assertThat(answer.status()).as(operation.toString()).isEqualTo(400);
                assertThat(answer.json().get("code").stringValue()).as(answer.text()).isEqualTo("UNKNOWN_PARAMETER");
                assertThat(answer.json().get("allowed").valueStream().map(JsonNode::stringValue))
                        .containsExactlyElementsOf(operation.parameters().keySet());
            }
        }
    }

    @Test
    void probesAndScrapersMayAddParameters() {
        assertThat(operations().stream().filter(Operation::needsNoKey).map(Operation::path))
                .containsExactlyInAnyOrder("/healthz", "/readyz", "/metrics", "/openapi.json");
        assertThat(api.get("/healthz?verbose&t=1").status()).isEqualTo(200);
    }

    @Test
    void valuesBeyondTheDeclarationAreRefused() {
        for (Operation operation : operations()) {
            operation.parameters().forEach((name, parameter) -> invalid(parameter).forEach(values -> {
                Answer answer = operation.ask(Map.of(name, values));

                assertThat(answer.status()).as(operation + " " + name + "=" + values).isEqualTo(400);
                assertThat(answer.json().get("code").stringValue()).as(answer.text()).isIn("INVALID_PARAMETER",
                        "INVALID_CURSOR");
                assertThat(answer.json().path("parameter").asString(name)).isEqualTo(name);
            }));
        }
    }

    @Test
    void declaredValuesAreAccepted() {
        for (Operation operation : operations()) {
            operation.parameters().forEach((name, parameter) -> {
                if (!name.equals("cursor")) {
                    Answer answer = operation.ask(Map.of(name, List.of(valid(parameter))));

                    assertThat(answer.status()).as(operation + " " + name + ": " + answer.text()).isLessThan(500)
                            .isNotEqualTo(400);
                }
            });
        }
    }

    @Test
    void everyParameterHasABound() {
        for (Operation operation : operations()) {
            operation.parameters().forEach((name, parameter) -> {
                JsonNode schema = each(parameter);
                boolean bound = schema.has("enum") || schema.path("type").asString("").equals("boolean")
                        || schema.has("maxLength") || schema.has("pattern")
                        || schema.has("minimum") && schema.has("maximum");
                assertThat(bound).as(operation + " " + name).isTrue();
                assertThat(schema.has("pattern")).as(operation + " " + name + " describes its form in words")
                        .isEqualTo(schema.has("pattern") && schema.has("description"));
            });
        }
    }

    private static JsonNode each(JsonNode parameter) {
        return parameter.get("schema").has("items") ? parameter.at("/schema/items") : parameter.get("schema");
    }

    private static String valid(JsonNode parameter) {
        JsonNode schema = each(parameter);
        if (schema.has("examples")) {
            return schema.at("/examples/0").stringValue();
        }
        if (schema.has("enum")) {
            return schema.at("/enum/0").stringValue();
        }
        if (schema.path("format").asString("").equals("id")) {
            return NO_ID;
        }
        return switch (schema.path("type").asString("")) {
            case "integer" -> schema.get("minimum").asString();
            case "boolean" -> "false";
            default -> parameter.get("name").stringValue().equals("types") ? "step_failed"
                    : "a".repeat(
                            parameter.get("name").stringValue().equals("sha256") ? 64 : 1);
        };
    }

    private static Stream<List<String>> invalid(JsonNode parameter) {
        JsonNode schema = each(parameter);
        List<List<String>> wrong = new ArrayList<>();
        wrong.add(List.of("\0"));
        wrong.add(List.of("a".repeat(5_000)));
        if (schema.path("type").asString("").equals("integer")) {
            wrong.add(List.of(Long.toString(schema.get("minimum").longValue() - 1)));
            wrong.add(List.of(schema.get("maximum").decimalValue().add(BigDecimal.ONE).toPlainString()));
            wrong.add(List.of("+1"));
            wrong.add(List.of(""));
        }
        int times = parameter.at("/schema/maxItems").asInt(1);
        wrong.add(Stream.generate(() -> valid(parameter)).limit(times + 1L).toList());
        return wrong.stream();
    }

    private static List<Operation> operations() {
        List<Operation> operations = new ArrayList<>();
        for (Map.Entry<String, JsonNode> path : DOCUMENT.get("paths").properties()) {
            JsonNode item = OpenApiDocument.resolved(DOCUMENT, path.getValue());
            for (String method : List.of("get", "post", "put", "patch", "delete")) {
                if (item.has(method)) {
                    Map<String, JsonNode> parameters = new TreeMap<>();
                    OpenApiDocument.parameters(DOCUMENT, item, item.get(method), "query")
                            .forEach(each -> parameters.put(each.get("name").stringValue(), each));
                    operations.add(new Operation(method.toUpperCase(Locale.ROOT), path.getKey(), parameters,
                            OpenApiDocument.needsNoKey(item.get(method))));
                }
            }
        }
        return operations;
    }
}
