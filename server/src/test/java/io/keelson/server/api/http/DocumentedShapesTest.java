package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Members, names and parameters that the documents have and that were missing. */
class DocumentedShapesTest {

    @TempDir
    static Path data;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(data);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    /** The run knows its ticket, whose severity is high. */
    @Test
    void anEscalatedRunNamesItsTicket() {
        String run = api.create("""
                {"name": "r", "start": true, "config": {"escalation": {"enabled": true, "on_exhausted": true}},
                 "plan": {"tasks": [{"id": "a", "steps": [{"tool": "fail", "retry": {"max_attempts": 1}}]}]}}""");
        JsonNode escalated = api.awaitState(run, "escalated");
        JsonNode ticket = api.get("/api/v1/escalations?run_id=" + run).json().at("/items/0");

        assertThat(escalated.get("escalation_ticket_id").stringValue()).isEqualTo(ticket.get("id").stringValue());
        assertThat(ticket.get("severity").stringValue()).isEqualTo("high");
        api.post("/api/v1/escalations/" + ticket.get("id").stringValue() + "/resolve", "{\"resolution\": \"fail\"}");
        assertThat(api.awaitState(run, "failed").get("escalation_ticket_id").isNull()).isTrue();
    }

    /** Handoff, invariant 2. */
    @Test
    void anAgentCountsItsTasksAndATaskItsSteps() {
        String run = completed("""
                {"name": "r", "start": true, "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "noop"}, {"tool": "noop"}]},
                  {"id": "b", "suggested_agent": {"agent_name": "other"}, "steps": [{"tool": "noop"}]},
                  {"id": "c", "steps": [{"tool": "noop"}]}]}}""");

        assertThat(items("/api/v1/runs/" + run + "/agents")).extracting(agent -> agent.get("task_count").intValue())
                .containsExactlyInAnyOrder(2, 1);
        assertThat(items("/api/v1/runs/" + run + "/tasks")).extracting(task -> task.get("step_count").intValue())
                .containsExactly(2, 1, 1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/lifecycles", "/tools", "/workers", "/secrets", "/webhooks", "/prices", "/runs/{run}/attempts",
                    "/runs/{run}/plans", "/runs/{run}/agents", "/runs/{run}/artifacts", "/steps/{step}/attempts"})
    void everyListHasALimitAndPages(String list) {
        String run = completed("{\"name\": \"r\", \"start\": true, \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": ["
                + "{\"tool\": \"noop\"}]}]}}");
        String path = "/api/v1" + list.replace("{run}", run).replace("{step}",
                items("/api/v1/runs/" + run + "/steps").getFirst().get("id").stringValue());
        List<JsonNode> whole = items(path);
        List<JsonNode> paged = new ArrayList<>();
        String cursor = "";
        do {
            ApiServer.Answer page = api.get(path + "?limit=1" + cursor);
            assertThat(page.status()).as(page.text()).isEqualTo(200);
            assertThat(page.json().get("items").size()).isLessThanOrEqualTo(1);
            page.json().get("items").forEach(paged::add);
            cursor = page.json().get("next_cursor").isNull() ? null
                    : "&cursor=" + page.json().get("next_cursor").stringValue();
        } while (cursor != null);

        assertThat(paged).isEqualTo(whole);
        assertThat(api.get(path + "?limit=0").status()).isEqualTo(400);
        assertThat(api.get(path + "?cursor=x").status()).isEqualTo(400);
    }

    @Test
    void optionalMembersAreNullAsInTheExamples() {
        completed("""
                {"name": "r", "start": true, "config": {
                   "autonomy": {"level": "autonomous", "auto_approve_threshold": null},
                   "model_preferences": {"planner": null, "researcher": null, "writer": null, "reviewer": null,
                     "verifier": null}},
                 "plan": {"tasks": [{"id": "a", "suggested_model": null, "steps": [{"tool": "noop"}]}]}}""");
    }

    /** What a planner's plan was held to already: without a threshold only what costs nothing is approved by itself. */
    @ParameterizedTest
    @CsvSource({"0.05, awaiting_approval", "0, completed"})
    void aGivenPlanWithoutAThresholdIsApprovedByItselfOnlyWhereItCostsNothing(String estimate, String state) {
        String run = api.create("""
                {"name": "r", "start": true, "config": {"autonomy": {"level": "autonomous"}}, "plan": {"tasks": [
                  {"id": "a", "estimated_cost": %s, "steps": [{"tool": "noop"}]}]}}""".formatted(estimate));

        api.awaitState(run, state);
    }

    private static String completed(String mission) {
        String run = api.create(mission);
        api.awaitState(run, "completed");
        return run;
    }

    private static List<JsonNode> items(String path) {
        ApiServer.Answer answer = api.get(path);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().toList();
    }
}
