package io.keelson.server.annex.effect;

import io.keelson.api.work.ExternalCommand;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Page;
import io.keelson.server.tenant.auth.Scope;
import java.util.UUID;

/** Records of commands, and commands of the types that the server's settings add. */
final class CommandActions {

    private final CommandHandler handler;
    private final CommandAnswers answers;

    CommandActions(CommandHandler handler, CommandAnswers answers) {
        this.handler = handler;
        this.answers = answers;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/commands", this::list);
        table.post(Scope.RUNS_WRITE, "/commands", ExternalCommand.New.class, this::send);
        table.get(Scope.RUNS_READ, "/commands/{id}", this::one);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        String type = query.text("type");
        String state = query.text("state");
        UUID run = query.id("run_id");
        ListCursor cursor = new ListCursor("commands");
        UUID before = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        Page<EffectCommand> found = handler.list(request.workspace(), type, state, run, before, limit);
        return ApiResponse.ok(Lists.page(found, cursor, command -> command.id().toString(), CommandDocuments::of));
    }

    private ApiResponse one(ApiRequest request) {
        UUID id = request.id("id", IdKind.COMMAND);
        return ApiResponse.resource(CommandDocuments.of(
                handler.find(request.workspace(), id).orElseThrow(() -> IdKind.COMMAND.notFound(id))));
    }

    private ApiResponse send(ApiRequest request, ExternalCommand.New body) throws InterruptedException {
        if (!handler.registered().contains(body.type())) {
            throw ApiProblem.of("INVALID_VALUE", "/type", "unknown type; known: "
                    + (handler.registered().isEmpty() ? "none" : String.join(", ", handler.registered())));
        }
        return answers.answer(request, body.type(), body.payload(), null, true,
                command -> "/api/v1/commands/" + command.id(), CommandDocuments::of);
    }
}
