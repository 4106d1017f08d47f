package io.keelson.server.http;

import io.keelson.core.lifecycle.Edge;
import io.keelson.core.lifecycle.Lifecycle;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.State;
import java.util.List;
import java.util.function.BooleanSupplier;
import tools.jackson.databind.node.ObjectNode;

/** The engine about itself. */
final class EngineActions {

    private static final List<ObjectNode> LIFECYCLES = Lifecycles.all().stream().map(EngineActions::document).toList();

    private final BooleanSupplier ready;
    private final Reads reads;
    private final ObjectNode openApi;

    EngineActions(BooleanSupplier ready, Reads reads, ObjectNode openApi) {
        this.ready = ready;
        this.reads = reads;
        this.openApi = openApi;
    }

    void addTo(Route.Table table) {
        table.get("/lifecycles", this::lifecycles);
        table.getOpen("/healthz", call -> Answer.ok(Json.object().put("status", "ok")));
        table.getOpen("/readyz", call -> ready());
        table.getOpen("/openapi.json", call -> Answer.resource(openApi));
    }

    private Answer lifecycles(Call call) {
        call.query().done();
        return Lists.whole(LIFECYCLES);
    }

    private Answer ready() {
        if (!ready.getAsBoolean() || !reads.answer()) {
            throw Refusal.of(ErrorCode.NOT_READY, "the engine or its database is not ready").header("Retry-After", "1");
        }
        return Answer.ok(Json.object().put("status", "ready"));
    }

    private static <S extends Enum<S> & State> ObjectNode document(Lifecycle<S> lifecycle) {
        ObjectNode document = Json.object().put("name", lifecycle.entity()).put("entity", lifecycle.entity())
                .put("initial", lifecycle.initial().wire());
        var states = document.putArray("states");
        for (S state : lifecycle.states()) {
            states.addObject().put("name", state.wire()).put("type", state.type().wire())
                    .put("terminal", state.terminal());
        }
        var transitions = document.putArray("transitions");
        for (Edge<S> edge : lifecycle.edges()) {
            transitions.addObject().put("from", edge.from().wire()).put("to", edge.to().wire()).put("by", edge.by())
                    .put("event", edge.event());
        }
        return document;
    }
}
