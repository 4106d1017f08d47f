package io.keelson.server.annex.effect;

import io.keelson.server.annex.effect.EffectCommand.Source;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Idempotency;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Executes a client's command and returns its outcome; the command itself uses the idempotency key. */
final class CommandAnswers {

    private static final int MAX_KEY = 255;

    private final CommandHandler handler;

    CommandAnswers(CommandHandler handler) {
        this.handler = handler;
    }

    /**
     * @param needsKey whether it is refused without a key
     * @param location the location of the created object; null if the command creates none
     * @param document the document of a completed command
     */
    ApiResponse answer(ApiRequest request, String type, ObjectNode payload, @Nullable UUID target, boolean needsKey,
            @Nullable Function<EffectCommand, String> location, Function<EffectCommand, ObjectNode> document)
            throws InterruptedException {
        CommandResult result = handler.runOrAwait(new CommandRequest(request.workspace(), type, Source.API,
                key(request, needsKey), payload, target, new CommandRequest.Asker(String.valueOf(request.actor().id()),
                        request.actor().type().wire(), null, null, request.origin())),
                Idempotency.MAX_WAIT);
        return switch (result) {
            case CommandResult.Sent(EffectCommand command) -> answer(command, location, document, false);
            case CommandResult.Replayed(EffectCommand command) -> answer(command, location, document, true)
                    .header(Idempotency.REPLAYED, "true");
            case CommandResult.Conflict(EffectCommand command) -> throw ApiProblem.of(409,
                    ErrorCode.IDEMPOTENCY_KEY_CONFLICT, "the key was used for another command")
                    .with("command_id", command.id().toString());
            case CommandResult.InFlight(EffectCommand command) -> throw Idempotency
                    .inFlight("the command with this key is still in progress: cmd_" + command.id())
                    .with("command_id", command.id().toString());
            case CommandResult.NoTarget(ResourceKind resourceKind, UUID id) -> throw kind(resourceKind).notFound(id);
        };
    }

    static IdKind kind(ResourceKind kind) {
        return switch (kind) {
            case DEPLOYMENT -> IdKind.DEPLOYMENT;
            case ORDER -> IdKind.ORDER;
        };
    }

    private static @Nullable String key(ApiRequest request, boolean needed) {
        String key = request.header(Idempotency.HEADER);
        if (key == null && needed) {
            throw ApiProblem.of(ErrorCode.IDEMPOTENCY_KEY_REQUIRED, "send the header " + Idempotency.HEADER
                    + " with a unique text, so that a repeated request is done once").with("parameter",
                            Idempotency.HEADER);
        }
        if (key != null && (key.isBlank() || key.length() > MAX_KEY)) {
            throw ApiProblem.of(ErrorCode.INVALID_PARAMETER,
                    Idempotency.HEADER + " must have 1 to " + MAX_KEY + " characters")
                    .with("parameter", Idempotency.HEADER);
        }
        return key;
    }

    private static ApiResponse answer(EffectCommand command, @Nullable Function<EffectCommand, String> location,
            Function<EffectCommand, ObjectNode> document, boolean again) {
        String why = command.errorCode() + ": " + command.errorMessage();
        String id = command.id().toString();
        return switch (command.state()) {
            case COMPLETED -> location == null || again ? ApiResponse.ok(document.apply(command))
                    : ApiResponse.created(location.apply(command), document.apply(command));
            case EXECUTING, AWAITING_TOOL -> ApiResponse.json(202, CommandDocuments.of(command));
            case FAILED -> throw replayed(ApiProblem.of(ErrorCode.COMMAND_REFUSED, why).with("command_id", id), again);
            case UNKNOWN ->
                throw replayed(ApiProblem.of(ErrorCode.COMMAND_OUTCOME_UNKNOWN, why + ". " + command.advice())
                        .with("command_id", id), again);
        };
    }

    private static ApiProblem replayed(ApiProblem problem, boolean again) {
        return again ? problem.header(Idempotency.REPLAYED, "true") : problem;
    }
}
