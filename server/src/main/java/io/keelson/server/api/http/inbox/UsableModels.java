package io.keelson.server.api.http.inbox;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceTable;
import io.keelson.server.work.model.registry.WorkspaceModels;
import java.util.Set;
import java.util.UUID;

/** The models of the server that a person may choose for a run. */
public record UsableModels(WorkspaceModels models, PriceTable prices) {

    /** Refuses the name of a model that the server does not have, the workspace may not use, or that has no price. */
    void require(UUID workspace, String name, String pointer) {
        if (models.configured().find(name).isEmpty()) {
            throw ApiProblem.of("UNKNOWN_REFERENCE", pointer,
                    "the server has no model '" + name + "': `keelson models` lists those it has");
        }
        if (!models.allows(workspace, name)) {
            throw ApiProblem.of("MODEL_NOT_ALLOWED", pointer, "the workspace may not use the model '" + name
                    + "': an operator sets its models with `keelson workspaces models`");
        }
        if (!prices.withoutPrice(PriceKind.MODEL, Set.of(name)).isEmpty()) {
            throw ApiProblem.of("NO_PRICE", pointer, "the model '" + name
                    + "' has no price: set one with `keelson prices set model NAME --input CREDITS --output CREDITS`");
        }
    }
}
