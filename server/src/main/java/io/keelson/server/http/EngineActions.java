package io.keelson.server.http;

import io.keelson.core.lifecycle.LifecycleDocument;
import io.keelson.server.auth.Scope;
import java.util.List;
import java.util.function.BooleanSupplier;
import tools.jackson.databind.node.ObjectNode;

/** The engine about itself. */
final class EngineActions {

    private static final List<ObjectNode> LIFECYCLES = LifecycleDocument.all().stream().map(Json::tree).toList();

    private final BooleanSupplier ready;
    private final Reads reads;
    private final ObjectNode openApi;

    EngineActions(BooleanSupplier ready, Reads reads, ObjectNode openApi) {
        this.ready = ready;
        this.reads = reads;
        this.openApi = openApi;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/lifecycles", this::lifecycles);
        table.get(Scope.RUNS_READ, "/lifecycles/{name}", this::lifecycle);
        table.getOpen("/healthz", call -> Answer.ok(Json.object().put("status", "ok")));
        table.getOpen("/readyz", call -> ready());
        table.getOpen("/openapi.json", call -> Answer.resource(openApi));
    }

    private Answer lifecycles(Call call) {
        return new Portion(call, "lifecycles").of(LIFECYCLES);
    }

    private Answer lifecycle(Call call) {
        call.query().done();
        String name = call.pathText("name");
        return LifecycleDocument.named(name).map(Json::tree).map(Answer::resource)
                .orElseThrow(() -> Refusal.of(ErrorCode.LIFECYCLE_NOT_FOUND, "no lifecycle '" + Shown.piece(name) + "'")
                        .allowing(LifecycleDocument.names()));
    }

    private Answer ready() {
        if (!ready.getAsBoolean() || !reads.answer()) {
            throw Refusal.of(ErrorCode.NOT_READY, "the engine or its database is not ready").header("Retry-After", "1");
        }
        return Answer.ok(Json.object().put("status", "ready"));
    }
}
