package io.keelson.api.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A mission that was checked.
 *
 * @param valid always true
 * @param name name of the run
 * @param tasks number of tasks; 0 while a planner has not made the plan
 * @param plan source of its plan; a template of its kind is a recipe
 * @param estimatedCost estimate of the plan in credits; 0 if absent
 * @param hardLimitUsd maximum cost of the run; null without a limit
 * @param autonomy the approval of the plan in a run of the mission
 * @param planDocument the plan as it was read, with defaults
 * @param recipeId only with a plan of a recipe
 * @param recipeVersion only with a plan of a recipe
 */
public record ValidMission(boolean valid, String name, int tasks, @OneOf({
        "given", "recipe", "planner"}) String plan,
        BigDecimal estimatedCost, @Nullable BigDecimal hardLimitUsd, Approval autonomy, ObjectNode planDocument,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @Id String recipeId,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @Range(min = 1) Integer recipeVersion) {

    /**
     * The approval of the plan in a run of the mission.
     *
     * @param level autonomy level of the run
     * @param source source of the level: the mission or its recipe, the default of the workspace, or the default of the product
     * @param planApproval person: a person approves the plan; above_threshold: a person does if the estimate of the plan that is
     *     still to be made is above {@code auto_approve_threshold}; none: the plan counts as approved
     */
    public record Approval(@Ref("Autonomy") String level, @OneOf({"mission", "workspace", "product"}) String source,
            @OneOf({"person", "none", "above_threshold"}) String planApproval) {}
}
