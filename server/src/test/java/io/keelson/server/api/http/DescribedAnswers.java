package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.api.http.support.ErrorCode;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Validates responses of the API against the OpenAPI document. Every response of an {@link ApiServer} passes here. */
final class DescribedAnswers {

    private static final String ID = "https://keelson.example/openapi";
    static final JsonNode DOCUMENT = OpenApi.served(OpenApi::document).get();
    private static final List<Route> ROUTES = DOCUMENT.get("paths").propertyStream()
            .map(path -> new Route(pattern(path.getKey()), "/paths/" + escaped(path.getKey()))).toList();
    /** All schemas are parts of this one. By location, the registry would read the whole document for each. */
    private static final Schema ROOT = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
            .getSchema(SchemaLocation.of(ID), DOCUMENT);
    private static final Map<String, Schema> SCHEMAS = new ConcurrentHashMap<>();

    /** @param at pointer to the path's item */
    private record Route(Pattern path, String at) {}

    private DescribedAnswers() {}

    /** Fails unless the document names the answer's status, content type and members, and its body fits the schema. */
    static void check(String method, String target, byte @Nullable [] body, Answer answer) {
        String path = target.replaceAll("[?].*", "");
        String of = ROUTES.stream().filter(route -> route.path().matcher(path).matches()).map(Route::at)
                .min(DescribedAnswers::moreLiteral).orElse(null);
        if (of == null) {
            return;
        }
        String operation = followed(of) + "/" + method.toLowerCase(Locale.ROOT);
        if (DOCUMENT.at(operation).isMissingNode()) {
            return;
        }
        String what = method + " " + target + ": " + answer.status();
        String named = operation + "/responses/" + answer.status();
        String response = followed(DOCUMENT.at(named).isMissingNode() ? operation + "/responses/default" : named);
        assertThat(DOCUMENT.at(response).isMissingNode()).as(what + " is not described").isFalse();
        if (answer.response().body().length == 0) {
            return;
        }
        String type = answer.header("Content-Type").replaceAll(";.*", "").strip();
        JsonNode contents = DOCUMENT.at(response).path("content");
        assertThat(contents.has(type) || contents.has("*/*")).as(what + " " + type + " is not described").isTrue();
        if (answer.status() >= 400 && type.equals("application/problem+json")) {
            checkCode(DOCUMENT.at(operation), answer, what);
        }
        if (type.endsWith("json") && contents.has(type)) {
            String schema = response + "/content/" + escaped(type) + "/schema";
            assertThat(schema(schema).validate(answer.json())).as(what + " " + answer.text()).isEmpty();
            assertThat(unknown(schema, answer.json())).as(what + " has members that are not described").isEmpty();
            if (answer.status() < 300) {
                ExampleFiles.offer(operation, body, answer);
            }
        }
    }

    /** Fails unless the operation declares the code with this status, or any operation may answer it. */
    private static void checkCode(JsonNode operation, Answer answer, String what) {
        JsonNode problem = answer.json();
        String code = problem.has("problems") ? ErrorCode.INVALID_BODY.name() : problem.get("code").stringValue();
        String at = problem.has("problems") ? "" : "/responses/" + answer.status();
        assertThat(Stream.of(operation.at(at), DOCUMENT.at("/components/responses/Problem"))
                .flatMap(holder -> holder.path(ErrorResponses.CODES).valueStream()).map(JsonNode::stringValue))
                .as(what + ": " + operation.get("operationId") + " declares its codes in x-error-codes").contains(code);
    }

    /**
     * The problems of an operation's example, by the schema at a pointer: messages of the validator, and members that are
     * not described.
     */
    static List<String> problems(String schema, JsonNode value) {
        return Stream.concat(schema(schema).validate(value).stream().map(Object::toString),
                unknown(schema, value).stream()).toList();
    }

    private static Set<String> unknown(String schema, JsonNode value) {
        Set<String> unknown = new TreeSet<>();
        new Known().and(DOCUMENT.at(schema)).look(value, "", unknown);
        return unknown;
    }

    private static Schema schema(String at) {
        return SCHEMAS.computeIfAbsent(at, pointer -> ROOT.getSubSchema(
                SchemaLocation.of(ID + "#" + pointer.replace("{", "%7B").replace("}", "%7D")).getFragment()));
    }

    /** What schemas say together of the members and items of a value. An object of which they name no member is free. */
    private static final class Known {
        private final Map<String, Known> members = new HashMap<>();
        private @Nullable Known items;
        private boolean free = true;
        private boolean others;

        private Known and(JsonNode schema) {
            if (schema.path("$ref").isString()) {
                and(DOCUMENT.at(schema.get("$ref").stringValue().substring(1)));
            }
            Stream.of("allOf", "anyOf", "oneOf").forEach(each -> schema.path(each).forEach(this::and));
            for (Map.Entry<String, JsonNode> member : schema.path("properties").properties()) {
                free = false;
                members.computeIfAbsent(member.getKey(), name -> new Known()).and(member.getValue());
            }
            others |= schema.path("additionalProperties").isObject()
                    || schema.path("additionalProperties").asBoolean(false);
            if (schema.has("items")) {
                items = (items == null ? new Known() : items).and(schema.get("items"));
            }
            return this;
        }

        private void look(JsonNode value, String at, Set<String> unknown) {
            if (items != null) {
                value.valueStream().filter(item -> value.isArray())
                        .forEach(item -> items.look(item, at + "[]", unknown));
            }
            for (Map.Entry<String, JsonNode> member : value.properties()) {
                String here = at + "." + member.getKey();
                Known known = members.get(member.getKey());
                if (known != null) {
                    known.look(member.getValue(), here, unknown);
                } else if (!free && !others) {
                    unknown.add(here);
                }
            }
        }
    }

    /** Points to the item of a path. */
    static String pointer(String path) {
        return followed("/paths/" + escaped(path));
    }

    /** The pointer behind a reference, or the pointer itself. */
    private static String followed(String pointer) {
        JsonNode reference = DOCUMENT.at(pointer).path("$ref");
        return reference.isString() ? followed(reference.stringValue().substring(1)) : pointer;
    }

    private static int moreLiteral(String one, String other) {
        return Long.compare(one.chars().filter(c -> c == '{').count(), other.chars().filter(c -> c == '{').count());
    }

    private static Pattern pattern(String path) {
        return Pattern.compile(Stream.of(path.split("(?=\\{)|(?<=\\})"))
                .map(part -> part.startsWith("{") ? "[^/]+" : Pattern.quote(part)).collect(Collectors.joining()));
    }

    private static String escaped(String name) {
        return name.replace("~", "~0").replace("/", "~1");
    }
}
