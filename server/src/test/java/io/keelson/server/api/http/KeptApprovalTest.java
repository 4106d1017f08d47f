package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** A further attempt of a task asks a person again only where something else is to be approved. */
class KeptApprovalTest {
    @TempDir
    Path folder;
    private ApiServer api;

    @BeforeEach
    void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterEach
    void stop() throws Exception {
        api.close();
    }

    /** @param before input of the step before the approval */
    private String run(String before, String question) {
        return api.create("""
                {"name": "m", "start": true, "config": {"retry": {"backoff_base_seconds": 0}}, "plan": {"total_estimated_cost": 1, "tasks": [{"id": "a",
                  "verify": [{"kind": "jq", "expression": ".attempt >= 3"}],
                  "steps": [{"name": "draft", "tool": "echo", "input": {"text": "%s"}},
                    {"name": "ok", "kind": "approval", "input": {"question": "%s"}},
                    {"name": "publish", "tool": "echo", "input": {"attempt": "${ .task.attempt }"}}]}]}}"""
                .formatted(before, question));
    }

    private void decide(String run, String verb) {
        String step = api.awaitSteps(run, "waiting_approval", 1).getFirst().get("id").stringValue();
        assertThat(api.post("/api/v1/steps/" + step + "/" + verb, "{\"reason\": \"fine\"}").status()).isEqualTo(200);
    }

    private List<JsonNode> approvals(String run) {
        return api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals("step_approved")).toList();
    }

    @Test
    void furtherAttemptsKeepTheApproval() {
        String run = run("the same", "Publish?");
        decide(run, "approve");
        api.awaitState(run, "completed");
        assertThat(approvals(run)).hasSize(3).extracting(event -> event.at("/payload/reason").stringValue())
                .containsExactly("fine", "approved in attempt 1 of the task, for the same input",
                        "approved in attempt 2 of the task, for the same input");
        assertThat(approvals(run)).extracting(event -> event.at("/payload/approved_by").stringValue()).containsOnly(
                approvals(run).getFirst().at("/payload/approved_by").stringValue());
    }

    @ParameterizedTest
    @CsvSource({"${ .task.attempt | tostring },Publish?", "the same,Publish draft ${ .task.attempt }?"})
    void anotherOutputOrInputIsAskedAbout(String before, String question) {
        String run = run(before, question);
        decide(run, "approve");
        decide(run, "approve");
        decide(run, "reject");
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("APPROVAL_REJECTED");
        assertThat(approvals(run)).hasSize(2);
    }
}
