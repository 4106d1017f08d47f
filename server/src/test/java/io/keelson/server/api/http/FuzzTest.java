package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.OutsideJson;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Requests made of the OpenAPI document and then damaged: none is a server error, and every refusal has a code. */
class FuzzTest {

    private static final long SEED = 20261121;
    private static final int REQUESTS = Breadth.of(2_000, 100_000);
    private static final int MAX_IDS = 300;
    /** The key of the requests and its workspace. */
    private static final String NOT_TO_BE_ENDED = ".*(key|workspace|session).*";
    private static final List<String> WRITING = List.of("post", "put", "patch", "delete");

    private static final List<String> TEXTS = List.of("", " ", "x", "\u0000", "\uD800", "\uD83D\uDE00", "\u202E",
            "'; drop table workspaces; --", "${ .inputs }", "../../etc/passwd", "null", "%", "a".repeat(5_000),
            "00000000-0000-0000-0000-000000000000", "run_00000000-0000-7000-8000-000000000001", "🙂".repeat(300));

    private static final List<String> NUMBERS =
            List.of("0", "-1", "1", "2147483648", "1e400", "0.0000001", "99999999999999999999", "1E5");

    private final Random random = new Random(SEED);
    /** Ids in earlier answers. */
    private final List<String> ids = new ArrayList<>();
    private final List<AssertionError> violations = new ArrayList<>();
    /** Whether the body of the request is one that the schema allows, as far as it is read here. */
    private boolean fitting;
    private final Map<Integer, Integer> statuses = new TreeMap<>();
    private final JsonNodeFactory nodes = JsonNodeFactory.instance;

    @Test
    @Timeout(value = 60, unit = TimeUnit.MINUTES)
    @Breadth.InPart({0, 3})
    void nothingIsAServerError(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            JsonNode document = api.get("/openapi.json").json();
            List<String> paths = new ArrayList<>(document.get("paths").propertyNames());
            String run = api.create(ApiServer.WAITS);
            for (int i = 0; i < REQUESTS; i++) {
                String path = paths.get(random.nextInt(paths.size()));
                JsonNode item = resolve(document, document.get("paths").get(path));
                try {
                    send(api, document, path, item, run);
                } catch (AssertionError e) {
                    violations.add(e);
                }
                if (i % MAX_IDS == 0) {
                    run = api.create(ApiServer.WAITS);
                }
            }
            System.out.println("fuzz: requests by status " + statuses + ", with ids of " + ids.size() + " resources");
            assertThat(violations).isEmpty();
            assertThat(statuses.get(200)).as("requests that read %s", statuses).isGreaterThan(REQUESTS / 10);
            assertThat(statuses.getOrDefault(401, 0) + statuses.getOrDefault(429, 0)).as("%s", statuses)
                    .isLessThan(REQUESTS / 10);
        }
    }

    private void send(ApiServer api, JsonNode document, String path, JsonNode item, String run) {
        List<String> writing = WRITING.stream().filter(item::has).toList();
        String writes = writing.isEmpty() ? "" : writing.get(random.nextInt(writing.size()));
        String method = item.has(writes) && (!item.has("get") || random.nextBoolean()) ? writes.toUpperCase(Locale.ROOT)
                : "GET";
        String target = path.replaceAll("\\{\\w+}", id(run))
                + (path.endsWith("/stream") ? "?wait_ms=0"
                        : query(document, item, item.path(method.toLowerCase(Locale.ROOT))));
        byte[] body = method.equals("GET") || !item.get(writes).has("requestBody") && random.nextInt(4) > 0 ? null
                : body(document, item.get(writes));

        ApiServer.Answer answer =
                api.send(method, target, body, "Content-Type", body == null ? "" : "application/json");

        String what = "seed " + SEED + ": " + method + " " + target + "\n"
                + (body == null ? "" : new String(body, StandardCharsets.UTF_8))
                + "\n" + answer.text();
        assertThat(answer.status()).as(what).isLessThan(500);
        statuses.merge(answer.status(), 1, Integer::sum);
        if (answer.status() < 300 && !path.matches(NOT_TO_BE_ENDED)
                && answer.header("Content-Type").startsWith("application/json")) {
            keep(answer.json().path("id"));
            answer.json().path("items").forEach(each -> keep(each.path("id")));
        }
        if (answer.status() >= 400 && answer.json().has("jsonrpc")) {
            assertThat(answer.json().at("/error/code").intValue()).as(what).isNegative();
        } else if (answer.status() >= 400) {
            assertThat(answer.header("Content-Type")).as(what).isEqualTo("application/problem+json");
            assertThat(answer.json().get("code").stringValue()).as(what).matches("[A-Z][A-Z_]+");
        }
    }

    private String id(String run) {
        return switch (random.nextInt(3)) {
            case 0 -> encoded(text());
            case 1 -> ids.isEmpty() ? run : encoded(ids.get(random.nextInt(ids.size())));
            default -> run;
        };
    }

    private void keep(JsonNode id) {
        if (id.isString() && ids.size() == MAX_IDS) {
            ids.set(random.nextInt(MAX_IDS), id.stringValue());
        } else if (id.isString()) {
            ids.add(id.stringValue());
        }
    }

    /** Mostly without a query, or with a declared parameter. */
    private String query(JsonNode document, JsonNode item, JsonNode operation) {
        List<String> names =
                Stream.concat(item.path("parameters").valueStream(), operation.path("parameters").valueStream())
                        .map(each -> resolve(document, each)).filter(each -> each.path("in").asString().equals("query"))
                        .map(each -> each.get("name").stringValue()).collect(Collectors.toCollection(ArrayList::new));
        if (names.isEmpty() || random.nextInt(5) == 0) {
            names.add("other");
        }
        return random.nextInt(3) > 0 ? ""
                : "?" + names.get(random.nextInt(names.size())) + "=" + encoded(random.nextBoolean() ? text()
                        : NUMBERS.get(random.nextInt(NUMBERS.size())));
    }

    private byte[] body(JsonNode document, JsonNode operation) {
        JsonNode schema = resolve(document, operation.path("requestBody")).path("content").path("application/json")
                .path("schema");
        fitting = random.nextBoolean();
        String json = value(document, schema, 0).toString();
        return switch (fitting ? 2 : random.nextInt(12)) {
            case 0 -> json.substring(0, random.nextInt(json.length() + 1)).getBytes(StandardCharsets.UTF_8);
            case 1 -> damaged(json.getBytes(StandardCharsets.UTF_8));
            default -> json.getBytes(StandardCharsets.UTF_8);
        };
    }

    private byte[] damaged(byte[] bytes) {
        if (bytes.length > 0) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        return bytes;
    }

    /** A value that fits types, required members and examples of the schema, or mostly does. */
    private JsonNode value(JsonNode document, JsonNode unresolved, int depth) {
        JsonNode schema = resolve(document, unresolved);
        if (depth > 8 || !fitting && random.nextInt(15) == 0) {
            return junk();
        }
        if (fitting && schema.has("examples")) {
            return schema.get("examples").get(0);
        }
        if (schema.has("allOf")) {
            ObjectNode all = nodes.objectNode();
            schema.get("allOf").forEach(part -> {
                if (value(document, part, depth + 1) instanceof ObjectNode object) {
                    all.setAll(object);
                }
            });
            return all;
        }
        if (schema.has("anyOf")) {
            JsonNode choices = schema.get("anyOf");
            return value(document, choices.get(random.nextInt(choices.size())), depth + 1);
        }
        if (schema.has("properties")) {
            ObjectNode object = nodes.objectNode();
            schema.get("properties").properties().forEach(property -> {
                boolean required = schema.path("required").valueStream()
                        .anyMatch(each -> each.asString().equals(property.getKey()));
                if (fitting ? required || random.nextInt(4) == 0 : random.nextInt(4) > 0) {
                    object.set(property.getKey(), value(document, property.getValue(), depth + 1));
                }
            });
            return object;
        }
        if (schema.has("items")) {
            ArrayNode array = nodes.arrayNode();
            for (int i = random.nextInt(3); i >= 0; i--) {
                array.add(value(document, schema.get("items"), depth + 1));
            }
            return array;
        }
        if (schema.has("enum")) {
            return schema.get("enum").get(random.nextInt(schema.get("enum").size()));
        }
        String type = schema.path("type").asString("string");
        return switch (type) {
            case "integer", "number" -> nodes.numberNode(random.nextInt(2_000));
            case "boolean" -> nodes.booleanNode(false);
            case "object" -> nodes.objectNode();
            default -> nodes.stringNode("text" + random.nextInt(10));
        };
    }

    private JsonNode junk() {
        return switch (random.nextInt(6)) {
            case 0 -> nodes.nullNode();
            case 1 ->
                OutsideJson.readStrict(NUMBERS.get(random.nextInt(NUMBERS.size())).getBytes(StandardCharsets.UTF_8));
            case 2 -> nodes.arrayNode().add(nodes.objectNode());
            case 3 -> nodes.objectNode().put("~/" + random.nextInt(), true);
            case 4 -> nodes.booleanNode(true);
            default -> nodes.stringNode(text().replace("\uD800", ""));
        };
    }

    private String text() {
        return TEXTS.get(random.nextInt(TEXTS.size()));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static JsonNode resolve(JsonNode document, JsonNode node) {
        JsonNode reference = node.get("$ref");
        return reference == null ? node : document.at(reference.stringValue().substring(1));
    }
}
