package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.support.OpenApiDocument;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Each operation has an example that fits its schemas and has the members of real answers. */
class ApiExamplesTest {

    @TempDir
    private Path folder;

    @Test
    void everyOperationHasAnExampleThatFitsItsSchemas() {
        Map<String, Object> problems = new TreeMap<>();
        operations().forEach((name, operation) -> {
            if (!ExampleFiles.problems(operation).isEmpty()) {
                problems.put(name, ExampleFiles.problems(operation));
            }
        });
        assertThat(problems).as("edit server/src/main/resources/openapi/examples/OPERATION.json, or let a test that "
                + "calls the operation write it with -Dupdate.docs=true").isEmpty();
    }

    @Test
    void everyExampleIsOfAnOperation() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src", "main", "resources", "openapi", "examples"))) {
            assertThat(files.map(file -> file.getFileName().toString().replace(".json", "")))
                    .isSubsetOf(operations().keySet());
        }
    }

    @Test
    void realAnswersHaveTheMembersOfTheirExamples() throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            String run = api.create("""
                    {"name": "hello", "start": true, "plan": {"tasks": [{"id": "greet", "steps": [
                      {"tool": "echo", "input": {"text": "hello"}}]}]}}""");
            api.awaitState(run, "completed");
            JsonNode step = api.get("/api/v1/runs/" + run + "/steps").json().at("/items/0");
            Map<String, String> calls = new TreeMap<>(Map.of("getRun", "/runs/" + run,
                    "getTask", "/tasks/" + step.get("task_id").stringValue(),
                    "getStep", "/steps/" + step.get("id").stringValue(),
                    "listStepAttempts", "/steps/" + step.get("id").stringValue() + "/attempts",
                    "listRuns", "/runs", "listTasks", "/runs/" + run + "/tasks",
                    "listSteps", "/runs/" + run + "/steps", "listEvents", "/runs/" + run + "/events",
                    "listAttempts", "/runs/" + run + "/attempts", "listPlans", "/runs/" + run + "/plans"));
            calls.putAll(Map.of("listRunAgents", "/runs/" + run + "/agents", "getCredits", "/credits", "listTools",
                    "/tools", "listLedger", "/ledger", "whoAmI", "/whoami", "getLimits", "/limits", "getRunStatus",
                    "/runs/" + run + "/status", "listWorkspaces", "/workspaces", "getInboxStats", "/inbox/stats"));
            calls.forEach((operation, path) -> assertThat(members(api.get("/api/v1" + path).json())).as(operation)
                    .isEqualTo(members(Examples.of(operation).get("response"))));
        }
    }

    /** Names of the members of a document and of the first of its items. */
    private static Set<String> members(JsonNode document) {
        Set<String> members = new TreeSet<>(document.propertyNames());
        document.at("/items/0").propertyNames().forEach(name -> members.add("items." + name));
        return members;
    }

    /** Pointers to operations, by their ids. */
    private static Map<String, String> operations() {
        Map<String, String> operations = new TreeMap<>();
        OpenApiDocument.forEachOperation(DescribedAnswers.DOCUMENT, (method, path, _, operation) -> operations
                .put(operation.get("operationId").stringValue(), DescribedAnswers.pointer(path) + "/" + method));
        return operations;
    }
}
