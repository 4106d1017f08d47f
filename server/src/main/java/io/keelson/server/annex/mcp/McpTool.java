package io.keelson.server.annex.mcp;

import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.CallWait.State;
import io.keelson.core.run.Deferral;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.annex.mcp.wire.McpClient;
import io.keelson.server.annex.mcp.wire.McpException;
import io.keelson.server.annex.mcp.wire.McpException.Outcome;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.JsonSize;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.engine.store.queue.CallWaits;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.HandBackException.Busy;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import io.keelson.server.tenant.secret.Redaction;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code mcp.SERVER.TOOL}: a tool of a server of the workspace. A call that waits for a person or for a task of the server hands
 * its step back together with a {@link CallWait}, from which the next execution continues.
 */
final class McpTool implements Tool {
    private static final JsonNode OUTPUT = Json
            .read("""
            {"type": "object", "properties": {
              "text": {"type": "string", "description": "what the tool answers"},
              "structured": {"description": "the same as data, where the tool gives it"},
              "content": {"type": "array", "items": {"type": "object"}, "description": "links, and the names of artifacts"}}}""");
    /** Part of a call's time that is kept for the report of its outcome. */
    private static final Duration MARGIN = Duration.ofMillis(500);
    private static final Duration MAX_WAIT = Duration.ofDays(365);
    private static final Duration BUSY_RETRY_DELAY = Duration.ofSeconds(1);
    private static final long MIN_POLL_MS = 200;
    private static final long MAX_POLL_MS = 3_600_000;
    private static final int MAX_ROUNDS = 20;
    /** Maximum characters of questions, and of the state that a server wants to have back. */
    private static final int MAX_KEPT = 65_536;
    private static final int MAX_TASK_ID = 1_024;
    private static final Set<String> ANSWERABLE = Set.of("elicitation/create");

    private final McpService service;
    private final String server;
    private final String name;
    private final JsonNode accepted;
    private final ToolSpec spec;

    /** @param accepted the tool's description as it may be used */
    McpTool(McpService service, McpServerRow server, String name, JsonNode accepted) {
        this.service = service;
        this.server = server.name();
        this.name = name;
        this.accepted = accepted;
        String title = accepted.path("title").asString(name);
        this.spec =
                new ToolSpec(ToolSpec.MCP + server.name() + "." + name, accepted.path("description").asString(title),
                        McpSchemas.usable(accepted.path("inputSchema")), OUTPUT, server.definition().timeout(), false,
                        SlotKind.WAITING, McpEffects.of(server.definition(), name, accepted.path("annotations")));
    }

    @Override
    public ToolSpec spec() {
        return spec;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        CallWait before = service.database().withConnection(c -> CallWaits.find(c, call.stepId())).orElse(null);
        if (before != null && before.state() == State.ASKED) {
            throw asks(call, before);
        }
        if (before != null && before.state() == State.SENT && spec.effects().atMostOnce()) {
            throw unknown("an earlier execution of this call has sent it and has no answer");
        }
        try (McpConnections.Use use = connected(call, before)) {
            requireAccepted(call, before);
            try {
                JsonNode result = before != null && before.remoteTask() != null
                        ? poll(call, use.client(), before, before.remoteTask())
                        : send(call, use.client(), before);
                return finish(call, use.redaction(), result, before);
            } catch (ToolFailure e) {
                throw e.saying(use.redaction().text(String.valueOf(e.getMessage())));
            }
        }
    }

    private McpConnections.Use connected(ToolCall call, @Nullable CallWait before)
            throws ToolFailure, InterruptedException {
        try {
            return service.use(call.workspaceId(), server);
        } catch (McpException e) {
            Duration delay = e.retryAfter();
            if (delay != null && e.outcome() == Outcome.NOT_SENT) {
                throw new HandBackException(new Busy(ToolSpec.MCP + server, e.code(), delay),
                        server + ": " + e.getMessage());
            }
            throw unsent(failure(call, e), before);
        }
    }

    /** Refuses a tool that is not as it was accepted. */
    private void requireAccepted(ToolCall call, @Nullable CallWait before) throws ToolFailure {
        McpToolRow row = service.tool(call.workspaceId(), server, name);
        if (row == null || row.accepted() == null) {
            throw unsent(ToolFailure.permanent("MCP_TOOL_NOT_ALLOWED",
                    spec.name() + ": " + service.unusable(call.workspaceId(), spec.name())), before);
        }
        if (row.changed() || !row.accepted().equals(accepted)) {
            throw unsent(ToolFailure.permanent("MCP_TOOL_CHANGED",
                    spec.name() + ": " + McpService.held(server, name)), before);
        }
    }

    /**
     * The failure of an execution that has sent nothing. The tool's price is charged only where an earlier one has sent the call.
     */
    private static ToolFailure unsent(ToolFailure failure, @Nullable CallWait before) {
        return before == null ? failure.spending(ToolUsage.NOT_MADE) : failure;
    }

    private JsonNode send(ToolCall call, McpClient client, @Nullable CallWait before)
            throws ToolFailure, InterruptedException {
        if (spec.effects().atMostOnce() && !call.execution().track(before == null
                ? new CallWait(State.SENT, server, name, null, null, null, null, 0)
                : before.in(State.SENT))) {
            throw unknown("another execution of this call has sent it");
        }
        ObjectNode meta = Json.object().put(Mcp.META_EFFECT_KEY, call.effectKey());
        if (call.traceparent() != null) {
            meta.put("traceparent", call.traceparent());
        }
        call.log().line("calls " + name + " of " + server);
        call.execution().waitBegins();
        try {
            return client.call(new McpClient.ToolRequest(name, accepted.path("inputSchema"), call.input(), meta,
                    before == null ? null : answers(before), before == null ? null : before.serverState()),
                    left(call));
        } catch (McpException e) {
            throw ended(call, before, e);
        } finally {
            call.execution().waitEnds();
        }
    }

    private static @Nullable JsonNode answers(CallWait before) {
        String answers = before.answers();
        return answers == null ? null : Json.read(answers);
    }

    /** A call whose outcome is known may be sent again; one whose outcome is not is not repeated where that may do harm. */
    private ToolFailure ended(ToolCall call, @Nullable CallWait before, McpException e) throws InterruptedException {
        if (spec.effects().atMostOnce()) {
            if (e.outcome() == Outcome.LOST) {
                return unknown(String.valueOf(e.getMessage()));
            }
            call.execution().track(before);
        }
        return e.outcome() == Outcome.NOT_SENT ? unsent(failure(call, e), before) : failure(call, e);
    }

    private static ToolFailure unknown(String reason) {
        return ToolFailure.permanent("OUTCOME_UNKNOWN", reason + ": it may have had its effect, and is not repeated");
    }

    /** After refused credentials the next call begins a new connection, for which secrets are opened again. */
    private ToolFailure failure(ToolCall call, McpException e) {
        if (e.code().equals("MCP_AUTH_REFUSED")) {
            service.drop(call.workspaceId(), server);
        }
        ToolFailure failure =
                new ToolFailure(e.code(), e.permanent() ? ErrorClass.PERMANENT : ErrorClass.INFRASTRUCTURE,
                        server + ": " + e.getMessage(), e.retryAfter());
        return e.outOfOrder() ? failure.outOfOrder(ToolSpec.MCP + server) : failure;
    }

    private Duration left(ToolCall call) {
        Duration left = call.deadline().remaining().minus(MARGIN);
        return left.isPositive() ? left : Duration.ofMillis(1);
    }

    private JsonNode poll(ToolCall call, McpClient client, CallWait before, String task)
            throws ToolFailure, InterruptedException {
        call.execution().waitBegins();
        try {
            JsonNode answers = answers(before);
            if (before.state() == State.ANSWERED && answers != null) {
                client.updateTask(task, answers, left(call));
                call.execution().track(atTask(task, before));
            }
            return client.task(task, left(call));
        } catch (McpException e) {
            throw failure(call, e);
        } finally {
            call.execution().waitEnds();
        }
    }

    private ToolResult finish(ToolCall call, Redaction redaction, JsonNode raw, @Nullable CallWait before)
            throws ToolFailure {
        JsonNode result = redaction.none() ? raw : redaction.json(raw);
        if (before != null && before.remoteTask() != null) {
            return task(call, result, before, before.remoteTask());
        }
        return switch (result.path("resultType").asString("complete")) {
            case "complete" -> McpResults.of(call, name, accepted.path("outputSchema"), result);
            case "input_required" ->
                throw asked(call, result, raw.path("requestState").stringValue(null), before, null);
            case "task" -> throw works(raw, before);
            default -> throw ToolFailure.permanent("MCP_RESULT_INVALID", "the result's type is unknown");
        };
    }

    private ToolResult task(ToolCall call, JsonNode task, CallWait before, String id) throws ToolFailure {
        return switch (task.path("status").asString("")) {
            case "working" -> throw later(task, null);
            case "input_required" -> throw asked(call, task, null, before, id);
            case "completed" -> McpResults.of(call, name, accepted.path("outputSchema"), task.path("result"));
            case "failed" -> throw ToolFailure.permanent("MCP_REFUSED", "the server's task failed: "
                    + task.at("/error/message").asString(task.path("statusMessage").asString("")));
            case "cancelled" -> throw ToolFailure.permanent("MCP_TASK_CANCELLED", "the server has cancelled its task");
            default -> throw ToolFailure.permanent("MCP_RESULT_INVALID", "the task's status is unknown");
        };
    }

    private HandBackException works(JsonNode result, @Nullable CallWait before) throws ToolFailure {
        String id = result.path("taskId").asString("");
        if (id.isEmpty() || id.length() > MAX_TASK_ID || !storable(id)) {
            throw ToolFailure.permanent("MCP_RESULT_INVALID", "the server's task has no usable id");
        }
        return later(result, atTask(id, before));
    }

    private CallWait atTask(String id, @Nullable CallWait before) {
        return new CallWait(State.TASK, server, name, null, id, null, null, before == null ? 0 : before.rounds());
    }

    /** @param call its task, if that is new */
    private HandBackException later(JsonNode task, @Nullable CallWait call) {
        long delay = Math.clamp(task.path("pollIntervalMs").asLong(1_000), MIN_POLL_MS, MAX_POLL_MS);
        return new HandBackException(new Busy(ToolSpec.MCP + server, "MCP_TIMEOUT", Duration.ofMillis(delay), MAX_WAIT),
                call, "a task of " + server + " works for the call");
    }

    private HandBackException asked(ToolCall call, JsonNode result, @Nullable String state, @Nullable CallWait before,
            @Nullable String task) throws ToolFailure {
        JsonNode questions = SafeText.clean(result.path("inputRequests"));
        int rounds = before == null ? 0 : before.rounds();
        if (rounds >= MAX_ROUNDS) {
            throw ToolFailure.permanent("MCP_RESULT_INVALID", "the server asked " + MAX_ROUNDS + " times for one call");
        }
        boolean known = questions.valueStream().allMatch(each -> ANSWERABLE.contains(each.path("method").asString("")));
        if (!known) {
            throw ToolFailure.permanent("MCP_INPUT_NOT_SUPPORTED",
                    "the server asks for what this client does not give: only people's answers to questions");
        }
        boolean none = questions.isMissingNode() || questions.isEmpty();
        if (!none && !questions.isObject() || JsonSize.chars(questions, MAX_KEPT) > MAX_KEPT) {
            throw ToolFailure.permanent("MCP_RESULT_INVALID",
                    "the server's questions are no object, or have more than " + MAX_KEPT + " characters");
        }
        if (state != null && (state.length() > MAX_KEPT || !storable(state))) {
            throw ToolFailure.permanent("MCP_RESULT_INVALID",
                    "the server's requestState cannot be stored, or has more than " + MAX_KEPT + " characters");
        }
        questions.forEach(McpTool::makeFormUsable);
        CallWait next = new CallWait(none ? State.ANSWERED : State.ASKED, server, name, state, task,
                none ? null : questions.toString(), null, rounds + 1);
        return none ? new HandBackException(new Busy(ToolSpec.MCP + server, "MCP_BUSY", BUSY_RETRY_DELAY, MAX_WAIT),
                next, server + " wants the call again") : asks(call, next);
    }

    /** Forms that name their dialect or have references would not be checked otherwise. */
    private static void makeFormUsable(JsonNode question) {
        if (question.path("params") instanceof ObjectNode params && params.has("requestedSchema")) {
            params.set("requestedSchema", McpSchemas.usable(params.get("requestedSchema")));
        }
    }

    /** True when the database stores the text unchanged. */
    private static boolean storable(String text) {
        return SafeText.clean(text).equals(text);
    }

    /** The step goes back until the answer, or for as long as a question waits. */
    private static HandBackException asks(ToolCall call, CallWait question) {
        return new HandBackException(
                new Busy(Deferral.INBOX + "elic_" + call.stepId(), "MCP_NOT_ANSWERED", MAX_WAIT, MAX_WAIT), question,
                "the server asks a person");
    }
}
