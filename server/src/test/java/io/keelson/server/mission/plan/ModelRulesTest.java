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

    private static MissionReader reader() {
        return new MissionReader(new MissionContext(Missions.TOOLS, Missions.TOOLS::timeout, ONLY_SMALL, null,
                () -> AutonomyDefault.PRODUCT));
    }

    @Test
    void everyTaskWhoseModelHasNoPriceIsNamed() {
        MissionReader reader = reader();
        byte[] mission = ("{\"name\": \"n\", \"plan\": " + TASKS + "}").getBytes(StandardCharsets.UTF_8);

        assertThat(Missions.problems(reader.read(mission, Format.JSON)))
                .extracting(PlanProblem::code, PlanProblem::pointer)
                .containsExactly(tuple("NO_PRICE", "/plan/tasks/2/suggested_model"),
                        tuple("NO_PRICE", "/plan/tasks/3/suggested_model"));
    }

    @Test
    void everyPreferenceWhoseModelHasNoPriceIsNamed() {
        MissionReader reader = reader();
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
        MissionReader reader = reader();
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
    void modelOfAStepIsNamedUnlessFromAnExpression() {
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
    void missingServerModelIsNamedWithTheServersModels() {
        JsonNode plan = JsonMapper.shared().readTree("""
                {"tasks": [{"id": "a", "suggested_model": "gpt-9", "steps": [
                  {"tool": "model.generate", "input": {"model": "smal"}},
                  {"tool": "model.generate", "input": {"model": "small"}},
                  {"tool": "model.generate", "input": {"model": "${ inputs.model }"}},
                  {"tool": "work.remote", "input": {"model": "gpt-9"}},
                  {"tool": "model.generate", "input": {"model": "priced"}},
                  {"tool": "model.generate", "input": {"model": "secret"}}],
                  "verify": [{"kind": "model", "model": "judg"}, {"kind": "regex", "model": "judg"}]}]}""");

        assertThat(withModels(List.of("judge", "small")).check(NO_CONFIG, plan, UNASSIGNED))
                .extracting(PlanProblem::code, PlanProblem::pointer, PlanProblem::message)
                .satisfiesExactly(
                        each -> assertThat(each.toList().toString()).contains("NO_PRICE",
                                "/plan/tasks/0/suggested_model", "'gpt-9' has no price",
                                "this server calls judge, small"),
                        each -> assertThat(each.toList().toString()).contains("MODEL_NOT_CONFIGURED",
                                "/plan/tasks/0/verify/0/model", "did you mean 'judge'?"),
                        each -> assertThat(each.toList()).containsExactly("MODEL_NOT_CONFIGURED",
                                "/plan/tasks/0/steps/0/input/model",
                                "the model 'smal' is not a model of this server; did you "
                                        + "mean 'small'?; this server calls judge, small"),
                        each -> assertThat(each.toList().toString()).contains("MODEL_NOT_CONFIGURED",
                                "/plan/tasks/0/steps/4/input/model", "'priced'"),
                        each -> assertThat(each.toList().toString()).contains("MODEL_NOT_ALLOWED",
                                "/plan/tasks/0/steps/5/input/model"));
        assertThat(withModels(List.of()).check(NO_CONFIG, plan, UNASSIGNED)).extracting(PlanProblem::code)
                .as("a server without models").containsOnly("NO_PRICE", "MODEL_NOT_ALLOWED");
    }

    /** Rules of a server with those models. Only {@code small}, {@code judge} and {@code priced} have a price. */
    private static ModelRules withModels(List<String> configured) {
        return new ModelRules() {
            @Override
            public Map<String, Objection> refused(Set<String> models) {
                Map<String, Objection> refused = ONLY_SMALL.refused(models);
                refused.keySet().removeAll(Set.of("judge", "priced"));
                return refused;
            }

            @Override
            public boolean configured(String model) {
                return configured.contains(model);
            }

            @Override
            public List<String> known() {
                return configured;
            }
        };
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
