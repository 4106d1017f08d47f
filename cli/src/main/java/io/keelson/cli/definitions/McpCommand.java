package io.keelson.cli.definitions;

import io.keelson.api.work.McpServer;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "mcp", description = "Lists the MCP servers whose tools the workspace uses.",
        subcommands = {McpCommand.Show.class, McpCommand.Add.class, McpCommand.Remove.class, McpCommand.Check.class,
                McpCommand.Allow.class, McpCommand.Accept.class},
        footer = {"  keelson mcp",
                "  keelson mcp add tickets --url https://tickets.example/mcp --bearer-secret tickets-token --tool search",
                "  keelson mcp add files --command files --tool '*'", "  keelson mcp show files --schemas",
                "  keelson mcp allow files read_file write_file", "  keelson mcp accept files read_file"})
public final class McpCommand extends ListCommand<McpServer> {

    /** Members of a definition, as it is shown and as it is given. */
    private static final List<String> MEMBERS =
            List.of("url", "headers", "bearer", "command", "trusted", "effects", "timeout_seconds");

    McpCommand() {
        super("no MCP servers", "NAME", "AT", "PROTOCOL", "TOOLS", "STATE");
    }

    @Override
    protected List<McpServer> items(Keelson keelson) {
        return keelson.mcpServers().list();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.api().get("/mcp-servers");
    }

    @Override
    protected List<String> row(McpServer each) {
        long allowed = each.tools().stream().filter(tool -> tool.state().equals("allowed")).count();
        long changed = each.tools().stream().filter(tool -> tool.state().equals("changed")).count();
        return List.of(each.name(), at(each), each.protocol() == null ? "-" : each.protocol(),
                allowed + " of " + each.tools().size(), each.error() != null ? TerminalText.clean(each.error())
                        : changed > 0 ? changed + " changed" : each.warnings().isEmpty() ? "ok" : "unknown names");
    }

    /** The address of a server, or its command. */
    private static String at(McpServer server) {
        return TerminalText.clean(server.url() == null ? "command " + server.command() : server.url());
    }

    /** Shows one server, after a change. */
    private abstract static class OfServer extends ChangeCommand {
        /** Maximum characters of a description in a table. */
        private static final int MAX_DESCRIPTION = 100;

        @Parameters(index = "0", paramLabel = "NAME", description = "The server, as keelson mcp lists it.")
        String name = "";

        /** Whether the schemas of the tools are shown. */
        boolean schemas() {
            return false;
        }

        /** The server after the action. */
        abstract McpServer act(Keelson keelson);

        @Override
        protected void run(Keelson keelson) {
            McpServer found = act(keelson);
            print(() -> keelson.api().get("/mcp-servers/" + name), () -> lines(found));
            exitCode(found.error() == null ? ExitCode.OK : ExitCode.FAILED);
        }

        private List<String> lines(McpServer server) {
            List<String> lines = new ArrayList<>();
            lines.add(server.name() + "  " + at(server) + (server.trusted() ? "  trusted" : ""));
            if (server.error() != null) {
                lines.add("error: " + TerminalText.clean(server.error()));
                List<String> log = server.log() == null ? List.of() : server.log();
                log.stream().skip(Math.max(0, log.size() - 10))
                        .forEach(line -> lines.add("  " + TerminalText.clean(line)));
            }
            server.warnings().forEach(each -> lines.add("warning: " + TerminalText.clean(each)));
            Table table = new Table("TOOL", "STATE", "EFFECTS", "DESCRIPTION");
            server.tools().forEach(tool -> table.row("mcp." + server.name() + "." + tool.name(), tool.state(),
                    tool.effects(), description(tool)));
            if (!server.tools().isEmpty()) {
                lines.addAll(table.lines(style()));
            }
            server.tools().stream().filter(tool -> tool.state().equals("changed")).forEach(tool -> {
                lines.add("mcp." + server.name() + "." + tool.name() + " has changed");
                lines.add("  accepted: " + TerminalText.clean(String.valueOf(tool.accepted())));
                lines.add("  now:      " + TerminalText.clean(String.valueOf(tool.seen())));
            });
            if (schemas()) {
                server.tools().forEach(tool -> {
                    lines.addAll(List.of("", "input of mcp." + server.name() + "." + tool.name()));
                    lines.addAll(TerminalText.json(described(tool).path("inputSchema")));
                });
            }
            return lines;
        }

        /** The server's current description of a tool, or its last one. */
        private static JsonNode described(McpServer.Tool tool) {
            JsonNode described = tool.seen() == null ? tool.accepted() : tool.seen();
            return described == null ? Json.MAPPER.missingNode() : described;
        }

        /** The beginning of the server's present description. */
        private static String description(McpServer.Tool tool) {
            String text = TerminalText.text(described(tool), "description");
            return text.length() <= MAX_DESCRIPTION ? text : text.substring(0, MAX_DESCRIPTION) + "…";
        }
    }

    @Command(name = "show",
            description = "Shows a server and its tools; of a changed tool all that is accepted and all that its server says now.")
    static final class Show extends OfServer {

        @Option(names = "--schemas", description = "Show the JSON Schema of each tool's input, too.")
        boolean schemas;

        @Override
        protected Work work() {
            return Work.OF_RUNNING_SERVER;
        }

        @Override
        boolean schemas() {
            return schemas;
        }

        @Override
        McpServer act(Keelson keelson) {
            return keelson.mcpServers().get(name);
        }
    }

    @Command(name = "check", description = "Looks at the tools of a server now. Exit code 1 when it cannot be used.")
    static final class Check extends OfServer {
        @Override
        McpServer act(Keelson keelson) {
            return keelson.mcpServers().check(name);
        }
    }

    @Command(name = "remove", description = "Removes a server. Steps with its tools then fail.")
    static final class Remove extends ChangeCommand {
        @Parameters(paramLabel = "NAME", description = "The server, as keelson mcp lists it.")
        String name = "";

        @Override
        protected void run(Keelson keelson) {
            keelson.mcpServers().remove(name);
            say(name + " is removed");
        }
    }

    @Command(name = "allow",
            description = "Allows further tools of a server; the rest of its definition stays. A server with a "
                    + "command needs a key with the scope operator.")
    static final class Allow extends OfServer {

        @Parameters(index = "1..*", arity = "1..*", paramLabel = "TOOL",
                description = "Names on the server; * for all.")
        List<String> tools = new ArrayList<>();

        @Override
        McpServer act(Keelson keelson) {
            JsonNode known = keelson.api().get("/mcp-servers/" + name);
            ObjectNode body = Json.object();
            MEMBERS.stream().filter(member -> !known.path(member).isNull())
                    .forEach(member -> body.set(member, known.path(member)));
            if (known.path("auth").isObject()) {
                ObjectNode auth = (ObjectNode) known.get("auth");
                if (auth.path("scope").isNull()) {
                    auth.remove("scope");
                }
                body.set("auth", auth);
            }
            Set<String> allowed = new LinkedHashSet<>();
            known.path("allowed").forEach(tool -> allowed.add(tool.asString()));
            allowed.addAll(tools);
            body.set("tools", Json.strings(List.copyOf(allowed)));
            return keelson.mcpServers().set(name, body);
        }
    }

    @Command(name = "accept", description = "Uses a tool as its server describes it now.")
    static final class Accept extends OfServer {

        @Parameters(index = "1", paramLabel = "TOOL", description = "The tool's name on the server.")
        String tool = "";

        @Override
        McpServer act(Keelson keelson) {
            return keelson.mcpServers().accept(name, tool);
        }
    }

    @Command(name = "add",
            description = "Creates or replaces a server, and looks at its tools. Needs --url or --command.")
    static final class Add extends OfServer {

        @Option(names = "--url", paramLabel = "URL", description = "Address of a server behind HTTP.")
        @Nullable String url;

        @Option(names = "--command", paramLabel = "NAME",
                description = "Name of a command in the file of KEELSON_MCP_SERVERS. Needs a key with the scope operator.")
        @Nullable String command;

        @Option(names = "--tool", paramLabel = "TOOL", description = "A tool that may be used; * for all. Repeatable.")
        List<String> tools = new ArrayList<>();

        @Option(names = "--bearer-secret", paramLabel = "SECRET",
                description = "The secret that is sent as bearer token.")
        @Nullable String bearer;

        @ArgGroup(exclusive = false)
        @Nullable Credentials credentials;

        static final class Credentials {
            @Option(names = "--token-url", paramLabel = "URL", required = true,
                    description = "Token endpoint for OAuth client credentials.")
            String tokenUrl = "";

            @Option(names = "--client-id", paramLabel = "ID", required = true,
                    description = "OAuth client id at the server.")
            String clientId = "";

            @Option(names = "--client-secret", paramLabel = "SECRET", required = true,
                    description = "Name of the secret of the workspace that is the client's.")
            String secret = "";

            @Option(names = "--scope", paramLabel = "SCOPE",
                    description = "Scopes of the token; the default of the token endpoint when not given.")
            @Nullable String scope;
        }

        @Option(names = "--header", paramLabel = "NAME=VALUE",
                description = "A header of each request; $${ secret(\"NAME\") } in it is a secret. Repeatable.")
        Map<String, String> headers = new LinkedHashMap<>();

        @Option(names = "--effects", paramLabel = "TOOL=EFFECTS",
                description = "Effects of a tool: read, idempotent, once or destructive. Repeatable.")
        Map<String, String> effects = new LinkedHashMap<>();

        @Option(names = "--trusted", description = "Annotations of its tools count.")
        boolean trusted;

        @Option(names = "--timeout", paramLabel = "SECONDS",
                description = "Timeout of a call by an agent, in seconds; 30 by default.")
        @Nullable Integer timeout;

        @Override
        McpServer act(Keelson keelson) {
            if ((url == null) == (command == null)) {
                throw CliException.usage("USAGE", "give --url or --command, and not both");
            }
            ObjectNode body = Json.object().put("trusted", trusted);
            if (url != null) {
                body.put("url", url);
            } else {
                body.put("command", command);
            }
            if (bearer != null) {
                body.put("bearer", "${ secret(\"" + bearer + "\") }");
            }
            if (credentials != null) {
                ObjectNode auth = body.putObject("auth").put("type", "client_credentials")
                        .put("token_url", credentials.tokenUrl).put("client_id", credentials.clientId)
                        .put("client_secret", "${ secret(\"" + credentials.secret + "\") }");
                if (credentials.scope != null) {
                    auth.put("scope", credentials.scope);
                }
            }
            if (timeout != null) {
                body.put("timeout_seconds", timeout);
            }
            body.set("tools", Json.strings(tools));
            body.set("headers", Json.MAPPER.valueToTree(headers));
            body.set("effects", Json.MAPPER.valueToTree(effects));
            return keelson.mcpServers().set(name, body);
        }
    }
}
