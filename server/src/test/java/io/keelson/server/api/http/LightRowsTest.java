package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Rows without their values, for clients that show many. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LightRowsTest {

    private ApiServer api;
    private String run;
    private JsonNode first;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        run = api.create("""
                {"name": "rows", "start": true, "inputs": {"who": {"type": "string", "default": "ann"}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "s", "tool": "echo", "input": {"to": "${ .inputs.who }", "text": "%s"}}]},
                  {"id": "each", "depends_on": ["a"], "for_each": "${ [1, 2] }", "steps": [{"name": "s", "tool": "echo", "input": {"n": "${ .item }"}}]},
                  {"id": "end", "depends_on": ["each"], "steps": [{"name": "s", "tool": "noop"}]}]}}"""
                .formatted("x".repeat(3_000)));
        api.awaitState(run, "completed");
        first = api.get("/api/v1/runs/" + run + "/tasks").json().at("/items/0");
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private List<String> keys(JsonNode reached) {
        return reached.get("items").valueStream().map(each -> each.get("key").stringValue()).toList();
    }

    @Test
    void lightRowsHaveSizeAndBeginningOfValues() {
        JsonNode task = api.get("/api/v1/runs/" + run + "/tasks?light=true").json().at("/items/0");
        assertThat(task.get("output").isNull()).isTrue();
        assertThat(task.get("omitted").toString()).isEqualTo("[\"output\"]");
        assertThat(task.get("output_bytes").intValue()).isGreaterThan(3_000);
        assertThat(task.get("output_start").stringValue()).hasSize(1_024).contains("xxx");
        String id = first.get("id").stringValue();
        assertThat(api.get("/api/v1/tasks/" + id + "?light=true").json().get("output_bytes"))
                .isEqualTo(task.get("output_bytes"));
        JsonNode step = api.get("/api/v1/tasks/" + id + "/steps?light=true").json().at("/items/0");
        assertThat(step.get("input").isNull()).isTrue();
        assertThat(step.get("input_start").stringValue()).contains("\"to\": \"ann\"");
        assertThat(api.get("/api/v1/runs/" + run + "/steps?light=true").json().at("/items/0")).isEqualTo(step);
        assertThat(api.get("/api/v1/steps/" + step.get("id").stringValue() + "?light=true").json().get("output_bytes"))
                .isEqualTo(step.get("output_bytes"));
    }

    @Test
    void stepsOfOneTaskHaveResolvedInputs() {
        JsonNode steps = api.get("/api/v1/tasks/" + first.get("id").stringValue() + "/steps").json();
        assertThat(steps.get("items").size()).isEqualTo(1);
        assertThat(steps.at("/items/0/input/to").stringValue()).isEqualTo("ann");
        assertThat(steps.get("next_cursor").isNull()).isTrue();
    }

    @Test
    void aTaskNamesAllThatItBlocksAndWaitsFor() {
        JsonNode reach = api.get("/api/v1/tasks/" + first.get("id").stringValue() + "/dependencies").json();
        assertThat(keys(reach.get("waits_for"))).isEmpty();
        assertThat(keys(reach.get("blocks"))).containsExactly("each", "end");
        assertThat(reach.at("/blocks/items/1/distance").intValue()).isEqualTo(2);
        JsonNode last = api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream()
                .filter(each -> each.get("key").stringValue().equals("end")).findFirst().orElseThrow();
        JsonNode before = api.get("/api/v1/tasks/" + last.get("id").stringValue() + "/dependencies").json();
        assertThat(keys(before.get("waits_for"))).startsWith("each").contains("a");
    }

    @Test
    void fieldsAreTheMembersThatAreNamed() {
        JsonNode part = api.get("/api/v1/runs/" + run + "?fields=state,name").json();
        assertThat(part.propertyNames()).containsExactlyInAnyOrder("id", "state", "name");
        assertThat(api.get("/api/v1/runs/" + run + "?fields=plan").json().get("plan").get("tasks").size()).isEqualTo(3);
        assertThat(api.get("/api/v1/runs?fields=state").json().at("/items/0").propertyNames())
                .containsExactlyInAnyOrder("id", "state");
        ApiServer.Answer unknown = api.get("/api/v1/runs/" + run + "?fields=colour");
        assertThat(unknown.status()).isEqualTo(400);
        assertThat(unknown.text()).contains("colour");
    }
}
