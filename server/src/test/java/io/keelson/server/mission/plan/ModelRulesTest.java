package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

class ModelRulesTest {

    /** A plan without assigned agents. */
    private static final Plan UNASSIGNED = new Plan(1, List.of());

    private static final JsonNode NO_CONFIG = MissingNode.getInstance();

    private static final String TASKS = """
            {"tasks": [{"id": "a", "suggested_model": "small"}, {"id": "b"},
                       {"id": "c", "suggested_model": "large"}, {"id": "d", "suggested_model": "large"}]}""";

    private static final ModelRules ONLY_SMALL = models -> {
        Map<String, ModelRules.Objection> refused = new TreeMap<>();
        models.stream().filter(model -> !model.equals("small")).forEach(model -> refused.put(model,
                model.equals("secret") ? ModelRules.Objection.MODEL_NOT_ALLOWED : ModelRules.Objection.NO_PRICE));
        return refused;
    };

    @Test
    void everyTaskWhoseModelHasNoPriceIsNamed() {
        MissionReader reader = new MissionReader(Missions.TOOLS, Missions.TOOLS::timeout, ONLY_SMALL);
        byte[] mission = ("{\"name\": \"n\", \"plan\": " + TASKS + "}").getBytes(StandardCharsets.UTF_8);

        assertThat(Missions.problems(reader.read(mission, Format.JSON)))
                .extracting(PlanProblem::code, PlanProblem::pointer)
                .containsExactly(tuple("NO_PRICE", "/plan/tasks/2/suggested_model"),
                        tuple("NO_PRICE", "/plan/tasks/3/suggested_model"));
    }

    @Test
    void everyPreferenceWhoseModelHasNoPriceIsNamed() {
        MissionReader reader = new MissionReader(Missions.TOOLS, Missions.TOOLS::timeout, ONLY_SMALL);
        byte[] mission =
                """
                {"name": "n", "plan": {"tasks": [{"id": "a"}]}, "config": {"model_preferences":
                  {"planner": "large", "researcher": "small", "writer": null, "reviewer": "large", "verifier": "tiny"}}}"""
                        .getBytes(StandardCharsets.UTF_8);

        assertThat(Missions.problems(reader.read(mission, Format.JSON)))
                .extracting(PlanProblem::code, PlanProblem::pointer)
                .containsExactly(tuple("NO_PRICE", "/config/model_preferences/planner"),
                        tuple("NO_PRICE", "/config/model_preferences/reviewer"),
                        tuple("NO_PRICE", "/config/model_preferences/verifier"));
    }

    @Test
    void modelThatTheWorkspaceMayNotUseIsNamedWithItsOwnCode() {
        MissionReader reader = new MissionReader(Missions.TOOLS, Missions.TOOLS::timeout).ruling(ONLY_SMALL);
        byte[] mission = """
                {"name": "n", "plan": {"tasks": [{"id": "a", "suggested_model": "secret"}]},
                 "config": {"model_preferences": {"planner": "secret", "reviewer": "small"}}}"""
                .getBytes(StandardCharsets.UTF_8);

        assertThat(Missions.problems(reader.read(mission, Format.JSON)))
                .extracting(PlanProblem::code, PlanProblem::pointer)
                .containsExactly(tuple("MODEL_NOT_ALLOWED", "/config/model_preferences/planner"),
                        tuple("MODEL_NOT_ALLOWED", "/plan/tasks/0/suggested_model"));
    }

    @Test
    void modelOfAStepIsNamedUnlessAnExpressionYieldsIt() {
        JsonNode plan = JsonMapper.shared().readTree("""
                {"tasks": [{"id": "a", "steps": [{"tool": "noop", "input": {"model": "large"}},
                  {"tool": "model.generate", "input": {"model": "small"}},
                  {"tool": "model.generate", "input": {"model": "large"}},
                  {"tool": "model.generate", "input": {"model": "${ inputs.model }"}},
                  {"tool": "model.generate", "input": {"model": "secret"}}]}]}""");

        assertThat(ONLY_SMALL.check(NO_CONFIG, plan, UNASSIGNED)).extracting(PlanProblem::code, PlanProblem::pointer)
                .containsExactly(tuple("NO_PRICE", "/plan/tasks/0/steps/2/input/model"),
                        tuple("MODEL_NOT_ALLOWED", "/plan/tasks/0/steps/4/input/model"));
    }

    @Test
    void aNewPlanIsJudgedAsWell() {
        NewPlans reader = new NewPlans(workspace -> Missions.TOOLS, Missions.TOOLS::timeout, workspace -> ONLY_SMALL,
                workspace -> List.of());
        var old = JsonMapper.shared().readTree("{\"version\": 1, \"tasks\": []}");

        assertThat(Missions
                .problems(reader.read(new UUID(0, 1), JsonMapper.shared().readTree(TASKS),
                        JsonMapper.shared().createObjectNode(), old, Set.of(), Set.of())))
                .extracting(PlanProblem::pointer)
                .isEqualTo(List.of("/plan/tasks/2/suggested_model", "/plan/tasks/3/suggested_model"));
    }

    @Test
    void aPlanWithoutModelsAsksForNoPrices() {
        ModelRules none = models -> {
            throw new AssertionError("asked for " + models);
        };

        assertThat(none.check(NO_CONFIG, JsonMapper.shared().readTree("{\"tasks\": [{\"id\": \"a\"}]}"), UNASSIGNED))
                .isEmpty();
    }

    @Test
    void withoutAPriceListNothingIsRefused() {
        assertThat(ModelRules.UNKNOWN.check(NO_CONFIG, JsonMapper.shared().readTree(TASKS), UNASSIGNED)).isEmpty();
    }
}
