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

    /** Schemas of requests that answers repeat, so that absent members stay absent. */
    private static final Set<String> OF_REQUESTS = Set.of("Mission", "Limits", "RunFilter");

    /** Objects whose members are not the API's: documents of users, of tools, and of types of events. */
    private static final Set<String> FREE = Set.of(
            "Answer.result", "AuditEntry.detail", "BoardTask.planning_data", "Command.payload", "Command.response",
            "Deployment.config", "Deployment.provider", "Event.payload", "InboxItem.data", "McpMessage.error.data",
            "McpMessage.result",
            "McpServer.tools[].accepted",
            "McpServer.tools[].seen", "Order.provider",
            "PlanVersion.plan", "Proposal.data", "Recipe.execution_config.budget", "Recipe.inputs", "Run.config",
            "Run.inputs", "Run.output", "Run.plan", "Schedule.inputs", "Schedule.mission", "Step.input",
            "Step.output", "StepAttempt.input", "StepAttempt.output", "TranscriptEntry.calls[]",
            "TranscriptEntry.input", "TranscriptEntry.output", "Task.item", "Task.output", "Tool.input_schema",
            "Tool.output_schema", "WorkItem.details", "WorkItem.failure_context", "WorkItem.input", "getTaskOutput",
            "openApi", "validateMission.plan_document");

    /** Members that only some answers have. All others are required, so each answer in a test has them. */
    private static final Set<String> OPTIONAL = Set.of(
            "Answer.code", "Answer.detail", "Answer.lease_expires_at", "Answer.next", "Answer.pointer", "Answer.reason",
            "Answer.result",
            "Deployment.capital", "Deployment.command_id", "Deployment.config", "Deployment.mode",
            "Explanation.step_id", "InboxItem.actions", "Run.now", "Explanation.task_id", "Lifecycle.errors",
            "Lifecycle.machines", "Lifecycle.title",
            "McpMessage.error", "McpMessage.error.data", "McpMessage.id", "McpMessage.result", "McpServer.log",
            "Machine.projection", "Machine.projection[].when", "Machine.transitions[].event",
            "Order.command_id",
            "Order.limit_price", "Price.usd_per_call", "Price.usd_per_million_tokens", "Recipe.execution_config",
            "Recipe.execution_config.budget", "Recipe.execution_config.max_retries",
            "Recipe.execution_config.originated_from", "Recipe.mission", "Recipe.omitted", "Recipe.steps",
            "Report.content", "Run.awaited", "Run.inputs", "Run.inputs_bytes", "Run.inputs_start", "Run.output",
            "Run.output_bytes",
            "Run.output_start", "Run.plan", "Schedule.mission",
            "Schedule.omitted", "StatesInWords.error_code", "StatesInWords.http_status", "StatesInWords.steps",
            "StatesInWords.tasks", "Step.input_bytes", "Step.input_start", "Step.omitted", "Step.output_bytes",
            "Step.output_start", "Task.item_bytes", "Task.item_start", "Task.omitted", "Task.output_bytes",
            "Task.output_start", "Used.agent", "Used.day", "Used.hour", "Used.model", "Used.purpose", "Used.recipe",
            "Used.run", "Used.run_name", "Used.schedule", "Used.task", "Used.tool", "Webhook.secret", "Workspace.use",
            "validateMission.recipe_id",
            "validateMission.recipe_version");

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
                if (!OF_REQUESTS.contains(last(reference)) && visited.add(reference.stringValue())) {
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
