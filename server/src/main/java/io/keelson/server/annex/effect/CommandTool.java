package io.keelson.server.annex.effect;

import io.keelson.core.policy.ErrorClass;
import io.keelson.server.annex.effect.EffectCommand.Source;
import io.keelson.server.annex.effect.EffectCommand.State;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command as a step. Its key is the step's effect key, so that a repeated step finds the first execution's command. A
 * failed command had no effect: a step that is repeated after it uses a further key.
 */
final class CommandTool implements Tool {

    private static final int MAX_KEYS = 100;

    /** Executes commands. */
    interface Runner {
        CommandResult run(CommandRequest request) throws InterruptedException;
    }

    private final ToolSpec spec;
    private final Runner runner;

    CommandTool(ToolSpec spec, Runner runner) {
        this.spec = spec;
        this.runner = runner;
    }

    @Override
    public ToolSpec spec() {
        return spec;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        ObjectNode payload = Payloads.normal((ObjectNode) call.input());
        String text = payload.toString();
        if (!call.redaction().none() && !call.redaction().text(text).equals(text)) {
            throw ToolFailure.permanent("SECRET_IN_COMMAND",
                    "a command is kept and shown as it was asked for, so it may not hold a secret");
        }
        ResourceKind kind = CommandTypes.target(spec.name());
        UUID target = kind == null ? null
                : UUID.fromString(payload.remove(kind.word() + "_id").asString());
        for (int i = 0; i < MAX_KEYS; i++) {
            CommandResult result = run(new CommandRequest(call.workspaceId(), spec.name(), Source.STEP,
                    call.effectKey() + (i == 0 ? "" : "#" + i), payload, target, new CommandRequest.Asker(
                            "run " + call.runId(), "run", call.runId(), call.stepId(), AuditOrigin.SERVER)));
            boolean failedBefore = result instanceof CommandResult.Replayed(EffectCommand command)
                    && command.state() == State.FAILED;
            if (!failedBefore) {
                return answer(result);
            }
        }
        throw ToolFailure.permanent("COMMAND_REFUSED", "it was refused " + MAX_KEYS + " times");
    }

    /** The command's row records the outcome, so a released step repeats no effect. */
    private CommandResult run(CommandRequest request) throws InterruptedException {
        try {
            return runner.run(request);
        } catch (SqlFailure e) {
            if (e.unavailable()) {
                throw new HandBackException("the database is unavailable: " + e.getMessage(), e);
            }
            throw e;
        }
    }

    private ToolResult answer(CommandResult result) throws ToolFailure {
        return switch (result) {
            case CommandResult.Sent(EffectCommand command) -> answer(command);
            case CommandResult.Replayed(EffectCommand command) -> answer(command);
            case CommandResult.Conflict(EffectCommand command) -> throw ToolFailure.permanent(
                    "IDEMPOTENCY_KEY_CONFLICT", "an earlier execution of this step has sent another command: cmd_"
                            + command.id());
            case CommandResult.InFlight(EffectCommand command) -> throw later("IDEMPOTENCY_IN_FLIGHT",
                    "an earlier execution of this step is at it: cmd_" + command.id(), command);
            case CommandResult.NoTarget(ResourceKind kind, UUID id) -> throw ToolFailure.permanent(
                    kind == ResourceKind.ORDER ? "ORDER_NOT_FOUND" : "DEPLOYMENT_NOT_FOUND",
                    "no " + kind.word() + " " + id);
        };
    }

    private ToolResult answer(EffectCommand command) throws ToolFailure {
        String why = command.errorCode() + ": " + command.errorMessage();
        return switch (command.state()) {
            case COMPLETED -> ToolResult.of(output(command));
            case FAILED -> throw ToolFailure.permanent("COMMAND_REFUSED", why);
            case UNKNOWN -> throw ToolFailure.permanent("COMMAND_OUTCOME_UNKNOWN", why + ". " + command.advice());
            case AWAITING_TOOL, EXECUTING -> throw later("COMMAND_NOT_DONE_YET", why, command);
        };
    }

    private static ToolFailure later(String code, String message, EffectCommand command) {
        Instant wake = command.wakeAt();
        return new ToolFailure(code, ErrorClass.INFRASTRUCTURE, message,
                wake == null ? null : Duration.between(command.updatedAt(), wake));
    }

    private static JsonNode output(EffectCommand command) {
        UUID target = command.targetId();
        ObjectNode output = Json.object().put("id",
                (target == null ? command.id() : target).toString()).put("command_id", command.id().toString())
                .put("provider_reference", command.providerReference());
        ObjectNode response = Objects.requireNonNull(command.response());
        if (response.path("status").isString()) {
            output.put("status", response.get("status").stringValue());
        }
        output.set("response", response);
        return output;
    }
}
