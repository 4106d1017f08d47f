package io.keelson.server.annex.mcp;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.Documents;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.plan.SchemaCheck;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** The commands that an operator lets workspaces start servers with. Does not change while this server runs. */
final class McpCommands {

    /** No command is configured. */
    public static final McpCommands NONE = new McpCommands(Map.of());
    private static final String SCHEMA = "/schema/mcp-servers.schema.json";

    /**
     * A command.
     *
     * @param environment of its process, besides {@code PATH} and {@code LANG}; may name secrets of the workspace
     */
    public record Command(List<String> line, Map<String, String> environment) {
        public Command {
            line = List.copyOf(line);
            environment = Map.copyOf(environment);
        }

        @Override
        public String toString() {
            return "Command[" + line.getFirst() + "]";
        }
    }

    private final Map<String, Command> byName;

    private McpCommands(Map<String, Command> byName) {
        this.byName = Map.copyOf(byName);
    }

    /**
     * Reads a file's content. Problems have JSON pointers into it.
     *
     * @param name of the file; its ending says whether it is JSON or YAML
     */
    public static ReadResult<McpCommands> read(byte[] content, String name) {
        return switch (Documents.read(content, Format.ofFile(name))) {
            case ReadResult.Invalid<JsonNode>(List<PlanProblem> problems) -> new ReadResult.Invalid<>(problems);
            case ReadResult.Ok<JsonNode>(JsonNode document) -> {
                JsonNode schema = schema();
                List<PlanProblem> problems = SchemaCheck.of(schema, schema).check(document);
                yield problems.isEmpty() ? new ReadResult.Ok<>(of(document)) : new ReadResult.Invalid<>(problems);
            }
        };
    }

    private static McpCommands of(JsonNode document) {
        Map<String, Command> commands = new TreeMap<>();
        document.get("servers").forEachEntry((name, entry) -> {
            Map<String, String> environment = new TreeMap<>();
            entry.path("env").forEachEntry((variable, value) -> environment.put(variable, value.asString()));
            commands.put(name, new Command(entry.get("command").valueStream().map(JsonNode::asString).toList(),
                    environment));
        });
        return new McpCommands(commands);
    }

    private static JsonNode schema() {
        try (InputStream in = Objects.requireNonNull(McpCommands.class.getResourceAsStream(SCHEMA))) {
            return Json.MAPPER.readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Optional<Command> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** Why there is no command of that name, and where the operator adds one. */
    public String missing(String name) {
        return byName.isEmpty()
                ? "the server has no command '" + name + "', because KEELSON_MCP_SERVERS names no file with commands"
                : "the file of KEELSON_MCP_SERVERS has no command '" + name + "'; it has "
                        + byName.keySet().stream().sorted().collect(Collectors.joining(", "));
    }
}
