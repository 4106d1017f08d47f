package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A mission with all members of the published schemas, each of which gets values that the schemas refuse. */
@ExtendWith(Breadth.InFailures.class)
class AnyMissionTest {
    private static final List<JsonNode> VALUES = Stream
            .of("null", "0", "99999999999", "1e300", "\"other\"", "[null, {}]", "{\"a\": 1}")
            .map(Json::read).toList();
    private final JsonNode mission = schema("mission");
    private final JsonNode config = schema("config");
    private boolean inTask;

    @Test
    void refusedValueIsAProblemAndNoError() {
        ObjectNode whole = ((ObjectNode) example(mission, mission)).without(List.of("recipe", "agent_slug"));
        MissionReader reader = new MissionReader(MissionContext.of(Missions.TOOLS));
        List<String> places = places("", whole).toList();

        assertThat(places).hasSizeGreaterThan(200);
        for (int i = 0; i < places.size(); i++) {
            for (int j = 0; j < VALUES.size(); j++) {
                if (Breadth.has(i + j)) {
                    JsonNode changed = changed(whole, places.get(i), VALUES.get(j));
                    assertThatCode(() -> reader.read(changed)).as("%s: %s", places.get(i), VALUES.get(j))
                            .doesNotThrowAnyException();
                }
            }
        }
    }

    /** All members of an object, one item of an array, else the schema's example. */
    private JsonNode example(JsonNode schema, JsonNode root) {
        String reference = schema.path("$ref").asString("");
        if (!reference.isEmpty()) {
            if (reference.endsWith("/task") && inTask) {
                return Json.read("{\"id\": \"inner\", \"steps\": [{\"tool\": \"noop\"}]}");
            }
            inTask |= reference.endsWith("/task");
            JsonNode file = reference.startsWith("config") ? config : reference.startsWith("mission") ? mission : root;
            return example(file.at(reference.contains("#") ? reference.substring(reference.indexOf('#') + 1) : ""),
                    file);
        }
        if (schema.path("properties").isObject()) {
            ObjectNode all = Json.object();
            schema.get("properties").forEachEntry((name, member) -> all.set(name, example(member, root)));
            return all;
        }
        JsonNode item = schema.path("items");
        return item.has("$ref") || item.path("properties").isObject() ? Json.array().add(example(item, root))
                : schema.path("examples").path(0).deepCopy();
    }

    private static Stream<String> places(String at, JsonNode node) {
        Stream<String> below = node.isArray()
                ? IntStream.range(0, node.size()).boxed()
                        .flatMap(i -> places(Pointers.of(at, i), node.get(i)))
                : node.properties().stream()
                        .flatMap(member -> places(Pointers.of(at, member.getKey()), member.getValue()));
        return at.isEmpty() ? below : Stream.concat(Stream.of(at), below);
    }

    private static JsonNode changed(JsonNode whole, String place, JsonNode value) {
        JsonNode copy = whole.deepCopy();
        String name = place.substring(place.lastIndexOf('/') + 1).replace("~1", "/").replace("~0", "~");
        switch (copy.at(place.substring(0, place.lastIndexOf('/')))) {
            case ObjectNode object -> object.set(name, value);
            case ArrayNode array -> array.set(Integer.parseInt(name), value);
            case JsonNode other -> throw new AssertionError(other);
        }
        return copy;
    }

    private static JsonNode schema(String name) {
        try (InputStream in = AnyMissionTest.class.getResourceAsStream("/schema/" + name + ".schema.json")) {
            return JsonMapper.shared().readTree(Objects.requireNonNull(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
