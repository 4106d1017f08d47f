package io.keelson.server.annex.effect;

import io.keelson.core.policy.Effects;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The commands as tools for steps. */
final class CommandTools {

    private static final String ID = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

    private static final String OUTPUT = """
            {"type": "object", "required": ["id", "command_id"], "properties": {
              "id": {"type": "string", "description": "of the deployment or order; of the command for other types"},
              "command_id": {"type": "string"}, "provider_reference": {"type": ["string", "null"]},
              "status": {"type": "string"}, "response": {"type": "object"}}}""";

    private static final String DEPLOYMENT = """
            {"type": "object", "additionalProperties": false, "required": ["strategy"], "properties": {
              "strategy": {"type": "string", "minLength": 1, "maxLength": 200, "description": "what is deployed"},
              "mode": {"enum": ["paper", "live"]},
              "capital": {"type": "string", "pattern": "{decimal}"},
              "config": {"type": "object"}}}""";

    private static final String ORDER = """
            {"type": "object", "additionalProperties": false, "required": ["symbol", "side", "type", "quantity"],
             "properties": {
              "symbol": {"type": "string", "pattern": "{symbol}"},
              "side": {"enum": ["buy", "sell"]},
              "type": {"enum": ["market", "limit"]},
              "quantity": {"type": "string", "pattern": "{decimal}"},
              "limit_price": {"type": "string", "pattern": "{decimal}", "description": "of limit orders, which need one"}},
             "if": {"properties": {"type": {"const": "limit"}}}, "then": {"required": ["limit_price"]},
             "else": {"properties": {"limit_price": false}}}""";

    private static final String TARGET = """
            {"type": "object", "additionalProperties": false, "required": ["{subject}_id"], "properties": {
              "{subject}_id": {"type": "string", "pattern": "{id}"}}}""";

    private CommandTools() {}

    /**
     * @param handler executes the commands
     * @param timeout long enough to wait for a command's holder and then to call the provider
     */
    public static List<Tool> of(CommandHandler handler, Duration timeout) {
        return all(handler::runToItsEnd, handler.registered(), timeout);
    }

    /** For listing and validation only, without execution. */
    public static List<Tool> unconnected() {
        return all(request -> {
            throw new IllegalStateException("no server");
        }, List.of(), Duration.ofSeconds(60));
    }

    private static List<Tool> all(CommandTool.Runner runner, List<String> registered, Duration timeout) {
        List<Tool> tools = new ArrayList<>();
        tools.add(new CommandTool(spec(CommandTypes.DEPLOYMENT_CREATE,
                "Creates a deployment at the provider, at most once.", DEPLOYMENT, timeout), runner));
        tools.add(new CommandTool(spec(CommandTypes.DEPLOYMENT_STOP, "Stops a deployment.",
                TARGET.replace("{subject}", "deployment"), timeout), runner));
        tools.add(new CommandTool(spec(CommandTypes.ORDER_PLACE,
                "Places an order at the provider, at most once.", ORDER, timeout), runner));
        tools.add(new CommandTool(spec(CommandTypes.ORDER_CANCEL, "Cancels an open order.",
                TARGET.replace("{subject}", "order"), timeout), runner));
        registered.forEach(type -> tools.add(new CommandTool(spec(type,
                "Sends its input to the address in the server's settings, at most once.",
                "{\"type\": \"object\"}", timeout), runner)));
        return tools;
    }

    private static ToolSpec spec(String name, String description, String input, Duration timeout) {
        String schema = input.replace("{decimal}", Payloads.DECIMAL.replace("\\", "\\\\"))
                .replace("{symbol}", Payloads.SYMBOL).replace("{id}", ID);
        return new ToolSpec(name, description, Json.read(schema),
                Json.read(OUTPUT), timeout, false).having(Effects.IDEMPOTENT);
    }
}
