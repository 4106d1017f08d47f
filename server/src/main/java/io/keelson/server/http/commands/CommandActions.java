package io.keelson.server.http.commands;

import io.keelson.server.auth.Scope;
import io.keelson.server.effect.CommandHandler;
import io.keelson.server.effect.EffectCommand;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ApiResponse;
import io.keelson.server.http.support.Fields;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Json;
import io.keelson.server.http.support.ListCursor;
import io.keelson.server.http.support.Lists;
import io.keelson.server.http.support.Query;
import io.keelson.server.http.support.Route;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Commands as they stand, and those of the types that the server's settings add. */
public final class CommandActions {

    private static final List<String> STATES =
            Arrays.stream(EffectCommand.State.values()).map(EffectCommand.State::wire).toList();
    private static final int MAX_TYPE = 100;
    private static final int MAX_PAYLOAD = 65_536;

    private final CommandHandler handler;
    private final CommandAnswers answers;

    public CommandActions(CommandHandler handler, CommandAnswers answers) {
        this.handler = handler;
        this.answers = answers;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/commands", this::list);
        table.post(Scope.RUNS_WRITE, "/commands", this::send);
        table.get(Scope.RUNS_READ, "/commands/{id}", this::one);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        String type = query.text("type");
        String state = query.word("state", STATES);
        String run = query.text("run_id");
        ListCursor cursor = new ListCursor("commands");
        UUID before = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        query.done();
        UUID runId = run == null ? null : IdKind.RUN.parse(run);
        if (run != null && runId == null) {
            throw Query.invalid("run_id", "must be a run's id");
        }
        List<EffectCommand> found = handler.list(request.workspace(), type, state, runId, before, limit + 1);
        return ApiResponse.ok(Lists.page(found.stream().limit(limit).map(CommandDocuments::of).toList(),
                found.size() <= limit ? null : cursor.write(found.get(limit - 1).id().toString())));
    }

    private ApiResponse one(ApiRequest request) {
        request.query().done();
        UUID id = request.id("id", IdKind.COMMAND);
        return ApiResponse.resource(CommandDocuments.of(
                handler.find(request.workspace(), id).orElseThrow(() -> IdKind.COMMAND.notFound(id))));
    }

    private ApiResponse send(ApiRequest request) throws IOException, InterruptedException {
        request.query().done();
        Fields fields = request.fields();
        String type = fields.text("type", MAX_TYPE);
        JsonNode payload = fields.any("payload");
        if (!type.isBlank() && !handler.registered().contains(type)) {
            fields.problem("INVALID_VALUE", "type", "unknown type; known: "
                    + (handler.registered().isEmpty() ? "none" : String.join(", ", handler.registered())));
        }
        if (payload == null) {
            fields.problem("REQUIRED", "payload", "'payload' must be given");
        } else if (!payload.isObject()) {
            fields.problem("WRONG_TYPE", "payload", "must be an object");
        } else if (payload.toString().length() > MAX_PAYLOAD) {
            fields.problem("TOO_LONG", "payload", "at most " + MAX_PAYLOAD + " characters as JSON");
        }
        fields.done();
        return answers.answer(request, type, payload instanceof ObjectNode object ? object : Json.object(), null, true,
                command -> "/api/v1/commands/" + command.id(), CommandDocuments::of);
    }
}
