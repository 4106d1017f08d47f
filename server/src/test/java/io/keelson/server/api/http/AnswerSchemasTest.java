package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.BoardStatus;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.server.api.http.inbox.InboxKind;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The schemas of answers describe every member, and whether it is always there. */
class AnswerSchemasTest {

    private static final JsonNode DOCUMENT = OpenApi.document();

    /** Schemas of records, which contain by their types and annotations what this test asserts of the others. */
    private static final Set<String> GENERATED = Set.copyOf(OpenApi.generated().propertyNames());

    /** Schemas of requests that answers repeat, so that absent members stay absent. */
    private static final Set<String> OF_REQUESTS = Set.of("Mission");

    /** Objects whose members are not the API's: documents of users, of tools, and of types of events. */
    private static final Set<String> FREE = Set.of(
            "McpMessage.error.data", "McpMessage.result", "getTaskOutput", "openApi");

    /** Members that only some answers have. All others are required, so each answer in a test has them. */
    private static final Set<String> OPTIONAL = Set.of(
            "McpMessage.error", "McpMessage.error.data", "McpMessage.id", "McpMessage.result", "Reported.claimed");

    @Test
    void everyObjectHasMembers() {
        assertThat(new Walk().all().free).containsExactlyInAnyOrderElementsOf(FREE);
    }

    @Test
    void membersAreRequiredUnlessNamedHere() {
        assertThat(new Walk().all().optional).containsExactlyInAnyOrderElementsOf(OPTIONAL);
    }

    /** Enumerations of states, by which queries are checked, too. */
    @Test
    void statesEqualTheLifecycles() {
        assertThat(words("/RunState")).containsExactlyInAnyOrderElementsOf(wires(RunState.values(), RunState::wire));
        assertThat(words("/StateType")).containsExactlyInAnyOrderElementsOf(wires(StateType.values(), StateType::wire));
        assertThat(words("/TaskState")).containsExactlyInAnyOrderElementsOf(wires(TaskState.values(), TaskState::wire));
        assertThat(words("/StepState")).containsExactlyInAnyOrderElementsOf(wires(StepState.values(), StepState::wire));
        assertThat(words("/RunAgent/properties/state"))
                .containsExactlyInAnyOrderElementsOf(wires(AgentState.values(), AgentState::wire));
        assertThat(words("/BoardStatus"))
                .containsExactlyInAnyOrderElementsOf(wires(BoardStatus.values(), BoardStatus::wire));
        assertThat(words("/InboxKind")).containsExactlyInAnyOrderElementsOf(InboxKind.words());
    }

    private static List<String> words(String schema) {
        return DOCUMENT.at("/components/schemas" + schema + "/enum").valueStream().map(JsonNode::stringValue).toList();
    }

    private static <T> List<String> wires(T[] values, Function<T, String> wire) {
        return Arrays.stream(values).map(wire).toList();
    }

    /** Visits the schemas of all JSON answers, each component once. */
    private static final class Walk {
        private final Set<String> free = new TreeSet<>();
        private final Set<String> optional = new TreeSet<>();
        private final Set<String> visited = new HashSet<>();

        private Walk all() {
            Stream.of("/paths", "/components/pathItems").map(DOCUMENT::at).flatMap(JsonNode::valueStream)
                    .flatMap(JsonNode::valueStream).filter(operation -> operation.has("operationId"))
                    .forEach(operation -> operation.get("responses").forEach(response -> {
                        JsonNode reference = response.path("$ref");
                        JsonNode content = reference.isString() ? DOCUMENT.at(reference.stringValue().substring(1))
                                : response;
                        String name =
                                reference.isString() ? last(reference) : operation.get("operationId").stringValue();
                        JsonNode schema = content.at("/content/application~1json/schema");
                        if (!schema.isMissingNode() && visited.add(name + " answers")) {
                            look(schema, name);
                        }
                    }));
            return this;
        }

        private void look(JsonNode schema, String at) {
            JsonNode reference = schema.path("$ref");
            if (reference.isString()) {
                if (!OF_REQUESTS.contains(last(reference)) && !GENERATED.contains(last(reference))
                        && visited.add(reference.stringValue())) {
                    look(DOCUMENT.at(reference.stringValue().substring(1)), last(reference));
                }
                return;
            }
            List.of("allOf", "anyOf", "oneOf").forEach(each -> schema.path(each).forEach(part -> look(part, at)));
            if (isFree(schema)) {
                free.add(at);
            }
            Set<String> required = new HashSet<>();
            schema.path("required").forEach(name -> required.add(name.stringValue()));
            schema.path("properties").properties().forEach(member -> {
                String here = at + "." + member.getKey();
                if (!required.contains(member.getKey())) {
                    optional.add(here);
                }
                look(member.getValue(), here);
            });
            if (schema.path("items").isObject()) {
                look(schema.get("items"), at + "[]");
            }
            if (schema.path("additionalProperties").isObject()) {
                look(schema.get("additionalProperties"), at + ".*");
            }
        }

        /** Whether any object or list fits. */
        private static boolean isFree(JsonNode schema) {
            String type = schema.path("type").toString();
            boolean any = Stream.of("type", "enum", "const", "allOf", "anyOf", "oneOf", "properties")
                    .noneMatch(schema::has);
            return any || type.contains("\"object\"") && !schema.has("properties")
                    && !schema.path("additionalProperties").isObject() || type.contains("\"array\"")
                            && !schema.has("items");
        }

        private static String last(JsonNode reference) {
            return reference.stringValue().substring(reference.stringValue().lastIndexOf('/') + 1);
        }
    }
}
