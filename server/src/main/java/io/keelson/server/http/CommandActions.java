package io.keelson.server.http;

import io.keelson.server.auth.Scope;
import io.keelson.server.execution.CommandHandler;
import io.keelson.server.execution.ExecutionCommand;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Commands as they stand, and those of the types that the server's settings add. */
final class CommandActions {

    private static final List<String> STATES =
            Arrays.stream(ExecutionCommand.State.values()).map(ExecutionCommand.State::wire).toList();
    private static final int MAX_TYPE = 100;
    private static final int MAX_PAYLOAD = 65_536;

    private final CommandHandler handler;
    private final CommandAnswers answers;

    CommandActions(CommandHandler handler, CommandAnswers answers) {
        this.handler = handler;
        this.answers = answers;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/commands", this::list);
        table.post(Scope.RUNS_WRITE, "/commands", this::send);
        table.get(Scope.RUNS_READ, "/commands/{id}", this::one);
    }

    private Answer list(Call call) {
        Query query = call.query();
        String type = query.text("type");
        String state = query.word("state", STATES);
        String run = query.text("run_id");
        Cursor cursor = new Cursor("commands");
        UUID before = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        query.done();
        UUID runId = run == null ? null : IdKind.RUN.parse(run);
        if (run != null && runId == null) {
            throw Query.invalid("run_id", "must be a run's id");
        }
        List<ExecutionCommand> found = handler.list(call.workspace(), type, state, runId, before, limit + 1);
        return Answer.ok(Lists.page(found.stream().limit(limit).map(CommandDocuments::of).toList(),
                found.size() <= limit ? null : cursor.write(found.get(limit - 1).id().toString())));
    }

    private Answer one(Call call) {
        call.query().done();
        UUID id = call.id("id", IdKind.COMMAND);
        return Answer.resource(CommandDocuments.of(
                handler.find(call.workspace(), id).orElseThrow(() -> IdKind.COMMAND.notFound(id))));
    }

    private Answer send(Call call) throws IOException, InterruptedException {
        call.query().done();
        Fields fields = call.fields();
        String type = fields.text("type", MAX_TYPE);
        JsonNode payload = fields.any("payload");
        if (!type.isBlank() && !handler.registered().contains(type)) {
            fields.problem("INVALID_VALUE", "type", "not a type that the server's settings name; known: "
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
        return answers.answer(call, type, payload instanceof ObjectNode object ? object : Json.object(), null, true,
                command -> "/api/v1/commands/" + command.id(), CommandDocuments::of);
    }
}
