package io.keelson.server.http;

import io.keelson.server.auth.Scope;
import io.keelson.server.execution.CommandHandler;
import io.keelson.server.execution.CommandTypes;
import io.keelson.server.execution.ExecutionCommand;
import io.keelson.server.execution.Payloads;
import io.keelson.server.execution.ProviderUnavailableException;
import io.keelson.server.execution.Subject;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Deployments and orders: made and ended by commands, read from whoever keeps them. */
final class DeploymentOrderActions {

    private static final int MAX_NAME = 200;
    private static final int MAX_CONFIG = 65_536;

    private final CommandHandler handler;
    private final CommandAnswers answers;

    DeploymentOrderActions(CommandHandler handler, CommandAnswers answers) {
        this.handler = handler;
        this.answers = answers;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/deployments", call -> list(call, Subject.DEPLOYMENT));
        table.post(Scope.RUNS_WRITE, "/deployments", this::deploy);
        table.get(Scope.RUNS_READ, "/deployments/{id}", call -> one(call, Subject.DEPLOYMENT));
        table.post(Scope.RUNS_WRITE, "/deployments/{id}/stop",
                call -> end(call, Subject.DEPLOYMENT, CommandTypes.DEPLOYMENT_STOP));
        table.get(Scope.RUNS_READ, "/orders", call -> list(call, Subject.ORDER));
        table.post(Scope.RUNS_WRITE, "/orders", this::order);
        table.get(Scope.RUNS_READ, "/orders/{id}", call -> one(call, Subject.ORDER));
        table.post(Scope.RUNS_WRITE, "/orders/{id}/cancel",
                call -> end(call, Subject.ORDER, CommandTypes.ORDER_CANCEL));
    }

    private Answer deploy(Call call) throws IOException, InterruptedException {
        call.query().done();
        Fields fields = call.fields();
        ObjectNode payload = Json.object().put("strategy", fields.text("strategy", MAX_NAME));
        String mode = fields.optionalWord("mode", Payloads.MODES);
        if (mode != null) {
            payload.put("mode", mode);
        }
        decimal(fields, "capital", false, payload);
        JsonNode config = fields.any("config");
        if (config != null) {
            if (!config.isObject()) {
                fields.problem("WRONG_TYPE", "config", "must be an object");
            } else if (config.toString().length() > MAX_CONFIG) {
                fields.problem("TOO_LONG", "config", "at most " + MAX_CONFIG + " characters as JSON");
            }
            payload.set("config", config);
        }
        fields.done();
        return make(call, CommandTypes.DEPLOYMENT_CREATE, payload, "/api/v1/deployments/");
    }

    private Answer order(Call call) throws IOException, InterruptedException {
        call.query().done();
        Fields fields = call.fields();
        String symbol = fields.text("symbol", MAX_NAME);
        if (!symbol.isBlank() && !Payloads.isSymbol(symbol)) {
            fields.problem("INVALID_VALUE", "symbol", "1 to 50 letters, digits and any of . _ : / -");
        }
        String type = fields.requiredWord("type", Payloads.ORDER_TYPES);
        ObjectNode payload = Json.object().put("symbol", symbol)
                .put("side", fields.requiredWord("side", Payloads.SIDES)).put("type", type);
        decimal(fields, "quantity", true, payload);
        decimal(fields, "limit_price", type.equals("limit"), payload);
        if (type.equals("market") && payload.has("limit_price")) {
            fields.problem("INVALID_VALUE", "limit_price", "a market order has none");
        }
        fields.done();
        return make(call, CommandTypes.ORDER_PLACE, payload, "/api/v1/orders/");
    }

    private static void decimal(Fields fields, String key, boolean required, ObjectNode into) {
        String text = required ? fields.text(key, MAX_NAME) : fields.optionalText(key, MAX_NAME);
        if (text == null || text.isBlank() && required) {
            return;
        }
        if (!Payloads.isDecimal(text)) {
            fields.problem("INVALID_VALUE", key, "must be a decimal above 0 as a string, such as \"1.5\", with at most"
                    + " 18 digits before and after the point");
        }
        into.put(key, text);
    }

    private Answer make(Call call, String type, ObjectNode payload, String place) throws InterruptedException {
        return answers.answer(call, type, Payloads.normal(payload), null, true, command -> place + command.id(),
                command -> CommandDocuments.made(command, command.response()));
    }

    private Answer end(Call call, Subject subject, String type) throws IOException, InterruptedException {
        call.query().done();
        call.fields().done();
        UUID id = call.id("id", CommandAnswers.kind(subject));
        ExecutionCommand maker = maker(call, subject, id);
        return answers.answer(call, type, Json.object(), id, false, null,
                command -> CommandDocuments.made(maker, command.response())
                        .put("command_id", command.id().toString()));
    }

    private Answer one(Call call, Subject subject) throws InterruptedException {
        call.query().done();
        UUID id = call.id("id", CommandAnswers.kind(subject));
        ExecutionCommand maker = maker(call, subject, id);
        return Answer.resource(CommandDocuments.made(maker, now(call, subject, List.of(maker)).get(id)));
    }

    private Answer list(Call call, Subject subject) throws InterruptedException {
        Query query = call.query();
        Cursor cursor = new Cursor(subject.word() + "s");
        UUID before = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        query.done();
        List<ExecutionCommand> found = handler.list(call.workspace(), subject.madeBy(),
                ExecutionCommand.State.COMPLETED.wire(), null, before, limit + 1);
        List<ExecutionCommand> shown = found.stream().limit(limit).toList();
        Map<UUID, ObjectNode> now = now(call, subject, shown);
        return Answer.ok(Lists.page(
                shown.stream().map(maker -> CommandDocuments.made(maker, now.get(maker.id()))).toList(),
                found.size() <= limit ? null : cursor.write(shown.getLast().id().toString())));
    }

    private Map<UUID, ObjectNode> now(Call call, Subject subject, List<ExecutionCommand> makers)
            throws InterruptedException {
        try {
            return handler.read(call.workspace(), subject, makers);
        } catch (ProviderUnavailableException e) {
            throw Refusal.of(ErrorCode.PROVIDER_UNAVAILABLE, Objects.requireNonNullElse(e.getMessage(), ""))
                    .header("Retry-After", "5");
        }
    }

    private ExecutionCommand maker(Call call, Subject subject, UUID id) {
        return handler.maker(call.workspace(), subject, id)
                .orElseThrow(() -> CommandAnswers.kind(subject).notFound(id));
    }
}
