package io.keelson.server.api.http.inbox;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.mission.plan.ModelRules;
import io.keelson.server.mission.plan.ModelRules.Objection;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/**
 * The models of the server that a person may choose for a run.
 *
 * @param rules of a workspace
 */
public record UsableModels(Function<UUID, ModelRules> rules) {

    /** Refuses the name of a model that the server does not have, the workspace may not use, or that has no price. */
    void require(UUID workspace, String name, String pointer) {
        ModelRules models = rules.apply(workspace);
        if (!models.configured(name)) {
            throw ApiProblem.of("UNKNOWN_REFERENCE", pointer,
                    "the server has no model '" + name + "': `keelson models` lists those it has");
        }
        Objection objection = models.refused(Set.of(name)).get(name);
        if (objection == Objection.MODEL_NOT_ALLOWED) {
            throw ApiProblem.of("MODEL_NOT_ALLOWED", pointer, "the workspace may not use the model '" + name
                    + "': an operator sets its models with `keelson workspaces models`");
        }
        if (objection == Objection.NO_PRICE) {
            throw ApiProblem.of("NO_PRICE", pointer, "the model '" + name
                    + "' has no price: set one with `keelson prices set model NAME --input CREDITS --output CREDITS`");
        }
    }
}
