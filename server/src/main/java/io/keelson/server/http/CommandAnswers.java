package io.keelson.server.http;

import io.keelson.server.execution.CommandHandler;
import io.keelson.server.execution.CommandRequest;
import io.keelson.server.execution.CommandResult;
import io.keelson.server.execution.ExecutionCommand;
import io.keelson.server.execution.ExecutionCommand.Source;
import io.keelson.server.execution.Subject;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Has a command done that a client asks for, and says what came of it; the key is the command's own affair. */
final class CommandAnswers {

    private static final int MAX_KEY = 255;

    private final CommandHandler handler;

    CommandAnswers(CommandHandler handler) {
        this.handler = handler;
    }

    /**
     * @param needsKey whether it is refused without a key
     * @param location where what it made is found; null where it makes nothing
     * @param document of a completed one
     */
    Answer answer(Call call, String type, ObjectNode payload, @Nullable UUID target, boolean needsKey,
            @Nullable Function<ExecutionCommand, String> location, Function<ExecutionCommand, ObjectNode> document)
            throws InterruptedException {
        CommandResult result = handler.run(new CommandRequest(call.workspace(), type, Source.API, key(call, needsKey),
                payload, target, new CommandRequest.Asker(String.valueOf(call.actor().id()),
                        call.actor().type().wire(), null, null, call.origin())));
        return switch (result) {
            case CommandResult.Sent(ExecutionCommand command) -> told(command, location, document, false);
            case CommandResult.Replayed(ExecutionCommand command) -> told(command, location, document, true)
                    .header(Idempotency.REPLAYED, "true");
            case CommandResult.Conflict(ExecutionCommand command) -> throw Refusal.of(409,
                    ErrorCode.IDEMPOTENCY_KEY_CONFLICT, "the key was used for another command")
                    .with("command_id", command.id().toString());
            case CommandResult.InFlight(ExecutionCommand command) -> throw Refusal.of(ErrorCode.IDEMPOTENCY_IN_FLIGHT,
                    "the command under this key has not ended: cmd_" + command.id()).header("Retry-After", "1")
                    .with("command_id", command.id().toString());
            case CommandResult.NoTarget(Subject subject, UUID id) -> throw kind(subject).notFound(id);
        };
    }

    static IdKind kind(Subject subject) {
        return switch (subject) {
            case DEPLOYMENT -> IdKind.DEPLOYMENT;
            case ORDER -> IdKind.ORDER;
        };
    }

    private static @Nullable String key(Call call, boolean needed) {
        String key = call.header(Idempotency.HEADER);
        if (key == null && needed) {
            throw Refusal.of(ErrorCode.IDEMPOTENCY_KEY_REQUIRED, "send the header " + Idempotency.HEADER
                    + " with a text of your own, so that what is sent twice is done once").with("parameter",
                            Idempotency.HEADER);
        }
        if (key != null && (key.isBlank() || key.length() > MAX_KEY)) {
            throw Refusal.of(ErrorCode.INVALID_PARAMETER,
                    Idempotency.HEADER + " must have 1 to " + MAX_KEY + " characters")
                    .with("parameter", Idempotency.HEADER);
        }
        return key;
    }

    private static Answer told(ExecutionCommand command, @Nullable Function<ExecutionCommand, String> location,
            Function<ExecutionCommand, ObjectNode> document, boolean again) {
        String why = command.errorCode() + ": " + command.errorMessage();
        String id = command.id().toString();
        return switch (command.state()) {
            case COMPLETED -> location == null || again ? Answer.ok(document.apply(command))
                    : Answer.created(location.apply(command), document.apply(command));
            case EXECUTING, AWAITING_TOOL -> Answer.json(202, CommandDocuments.of(command));
            case FAILED -> throw replayed(Refusal.of(ErrorCode.COMMAND_REFUSED, why).with("command_id", id), again);
            case UNKNOWN -> throw replayed(Refusal.of(ErrorCode.COMMAND_OUTCOME_UNKNOWN, why + ". " + command.advice())
                    .with("command_id", id), again);
        };
    }

    private static Refusal replayed(Refusal refusal, boolean again) {
        return again ? refusal.header(Idempotency.REPLAYED, "true") : refusal;
    }
}
