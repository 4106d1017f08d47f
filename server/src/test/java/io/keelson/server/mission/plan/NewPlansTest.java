package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.TaskSpec;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A planner's answer beside what has completed of the plan before. */
class NewPlansTest {
    private static final JsonNode OLD = Missions.json("""
            {"name": "m", "inputs": {"who": {"default": "x"}}, "plan": {"version": 3, "tasks": [
              {"id": "gone", "steps": [{"tool": "noop"}]},
              {"id": "done", "depends_on": ["gone"], "trigger_rule": "all_done",
               "steps": [{"tool": "echo", "input": {"v": "${ .tasks.gone.state }"}}]},
              {"id": "also", "depends_on": ["done"], "steps": [{"tool": "noop"}]}]}}""").planJson();
    private static final NewPlans READER = new NewPlans(Missions.TOOLS, Missions.TOOLS::timeout);

    @Test
    void completedTasksStayAndCanBeDependedOn() {
        NewPlans.Checked plan = ((ReadResult.Ok<NewPlans.Checked>) read("""
                {"reasoning": "another way", "tasks": [{"id": "new", "depends_on": ["done"], "steps": [
                  {"tool": "echo", "input": {"v": "${ .tasks.done.output }", "w": "${ .inputs.who }"}}]}]}""")).value();

        assertThat(plan.plan().version()).isEqualTo(4);
        assertThat(plan.plan().tasks()).extracting(TaskSpec::id).containsExactly("done", "new");
        assertThat(plan.plan().tasks().get(0).dependsOn()).as("what it depended on is gone").isEmpty();
        assertThat(plan.plan().tasks().get(1).dependsOn()).containsExactly(new Dependency("done", true));
        assertThat(new StoredPlans(Missions.TOOLS::timeout).read(plan.json())).isEqualTo(plan.plan());
        assertThat(JsonMapper.shared().readTree(plan.json()).at("/reasoning").asString()).isEqualTo("another way");
    }

    @Test
    void completedTaskMayBeReadWithoutADependency() {
        assertThat(Missions.problems(read("""
                {"tasks": [{"id": "new", "when": "${ .tasks.done.output == 1 }",
                  "steps": [{"tool": "echo", "input": {"v": "${ .tasks.done.output }"}}]}]}"""))).isEmpty();
    }

    @Test
    void planOfAChildRunNamesTasksOfItsOwn() {
        assertThat(Missions.problems(read("""
                {"tasks": [{"id": "new", "steps": [{"tool": "run.start", "input": {"name": "child",
                  "plan": {"tasks": [{"id": "inner", "steps": [{"tool": "noop"}]}]},
                  "output": "${ .tasks.inner.output }"}}]}]}"""))).isEmpty();
    }

    @Test
    void unknownToolIsReportedWithASimilarName() {
        assertThat(Missions.problems(read("{\"tasks\": [{\"id\": \"new\", \"steps\": [{\"tool\": \"noopp\"}]}]}")))
                .extracting(PlanProblem::message).singleElement().asString().contains("did you mean 'noop'?");
    }

    @Test
    void allProblemsAreReported() {
        assertThat(Missions.problems(read("[]"))).extracting(PlanProblem::code).containsExactly("WRONG_TYPE");
        assertThat(Missions.problems(read("{}"))).extracting(PlanProblem::code).containsExactly("REQUIRED");
        assertThat(Missions.problems(read("{\"tasks\": [{\"id\": \".x\"}, {\"steps\": 5}]}")))
                .extracting(PlanProblem::code).contains("INVALID_VALUE", "WRONG_TYPE", "REQUIRED");
        assertThat(Missions.problems(read("{\"tasks\": []}"))).extracting(PlanProblem::code).containsExactly("EMPTY");
        assertThat(Missions.problems(
                read("""
                {"tasks": [{"id": "new", "steps": [{"tool": "noop"}]}, {"id": "done", "steps": [{"tool": "noop"}]}]}""")))
                .extracting(each -> each.code() + " " + each.pointer()).as("it has completed")
                .containsExactly("DUPLICATE_NAME /plan/tasks/1/id");
        assertThat(Missions.problems(read("""
                {"tasks": [{"id": "new", "steps": [{"tool": "echo", "input": {"v": "${ .tasks.also.output }"}}]}]}""")))
                .extracting(PlanProblem::code).as("it is gone").containsExactly("UNKNOWN_REFERENCE");
        assertThat(Missions.problems(read("""
                {"tasks": [{"id": "a", "depends_on": ["b"]}, {"id": "b", "depends_on": ["a", "gone"]},
                  {"id": "c", "steps": [{"tool": "teleport"}]}]}""")))
                .extracting(PlanProblem::code)
                .containsExactlyInAnyOrder("DEPENDENCY_CYCLE", "DEPENDENCY_UNKNOWN", "UNKNOWN_TOOL");
    }

    @Test
    void allTasksOfARunWithUntrustedInputsAreMarked() {
        ReadResult<NewPlans.Checked> read = read("{\"tasks\": [{\"id\": \"new\", \"steps\": [{\"tool\": \"noop\"}]}]}",
                JsonMapper.shared().createObjectNode().put("untrusted_input", true));
        assertThat(((ReadResult.Ok<NewPlans.Checked>) read).value().plan().tasks())
                .allSatisfy(task -> assertThat(task.policy().untrusted()).isTrue());
    }

    private static ReadResult<NewPlans.Checked> read(String answer) {
        return read(answer, JsonMapper.shared().createObjectNode());
    }

    private static ReadResult<NewPlans.Checked> read(String answer, JsonNode config) {
        return READER.read(new UUID(0, 1), JsonMapper.shared().readTree(answer), config, OLD, Set.of("done"),
                Set.of("who"));
    }
}
