package io.keelson.cli.authoring;

import io.keelson.api.work.ToolInfo;
import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.server.app.OfflineToolCatalog;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.mission.plan.NameSuggestion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "tools",
        description = "Lists the tools that steps can use, or shows one with its JSON Schemas. Without a server only built-in ones.",
        subcommands = ToolsRegisterCommand.class,
        footer = {
                "  keelson tools                   # built in, of workers and of MCP servers",
                "  keelson tools files.list",
                "  keelson tools mcp.files.read_text_file",
                "  keelson tools register crm.update --effects idempotent"})
public final class ToolsCommand extends CliCommand {
    /** Maximum characters of a description in a table. */
    private static final int MAX_DESCRIPTION = 100;

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "One tool.")
    @Nullable String name;

    @Option(names = "--server", description = "Fail when no server responds.")
    boolean server;

    @Override
    public Integer call() {
        List<ToolInfo> tools = tools();
        String wanted = name;
        if (wanted != null) {
            ToolInfo tool = tools.stream().filter(each -> each.name().equals(wanted)).findFirst()
                    .orElseThrow(() -> unknown(wanted, tools));
            show(tool);
        } else if (json) {
            ObjectNode list = Json.object();
            tools.forEach(tool -> list.withArrayProperty("items").add(document(tool)));
            print(list);
        } else {
            Table table = new Table("TOOL", "EFFECTS", "SOURCE", "DESCRIPTION");
            tools.forEach(tool -> table.row(TerminalText.clean(tool.name()), orEmpty(tool.effects()), source(tool),
                    description(tool)));
            print(table.lines(style()));
        }
        return ExitCode.OK;
    }

    private List<ToolInfo> tools() {
        Keelson found = server ? ServerConnection.existing(settings()) : ServerConnection.find(settings());
        if (found != null) {
            return found.tools();
        }
        note("no server responds: these are the built-in tools only");
        return builtIn();
    }

    private static CliException unknown(String wanted, List<ToolInfo> tools) {
        List<String> names = tools.stream().map(ToolInfo::name).toList();
        String[] parts = wanted.split("\\.", 3);
        String off = wanted.startsWith(ToolSpec.MCP)
                ? "; `keelson mcp show " + parts[1] + "` shows whether the server has it and it is off"
                : "";
        return CliException.usage("TOOL_UNKNOWN", "unknown tool " + wanted + NameSuggestion.hint(wanted, names) + off
                + "; known are " + String.join(", ", names));
    }

    private void show(ToolInfo tool) {
        if (json) {
            print(document(tool));
            return;
        }
        List<String> lines = new ArrayList<>(List.of(style().bold(TerminalText.clean(tool.name())),
                TerminalText.clean(orEmpty(tool.description()))));
        lines.add("effects: " + (tool.effects() == null ? "not announced" : tool.effects()));
        ToolInfo.Mcp mcp = tool.mcp();
        if (mcp != null) {
            lines.add("MCP server: " + mcp.server() + (mcp.trusted() ? ", trusted" : "") + "; state: " + mcp.state());
        }
        lines.addAll(List.of("", "input"));
        lines.addAll(TerminalText.json(tool.inputSchema()));
        lines.addAll(List.of("", "output"));
        lines.addAll(TerminalText.json(tool.outputSchema()));
        print(lines);
    }

    /** The executor of the tool; for a tool of an MCP server also the reason why it is not used. */
    private static String source(ToolInfo tool) {
        ToolInfo.Mcp mcp = tool.mcp();
        return mcp == null || mcp.state().equals("allowed") ? tool.source() : tool.source() + ", " + mcp.state();
    }

    private static String description(ToolInfo tool) {
        String text = TerminalText.clean(orEmpty(tool.description()));
        return tool.mcp() == null || text.length() <= MAX_DESCRIPTION ? text
                : text.substring(0, MAX_DESCRIPTION) + "…";
    }

    /** A worker need not say more of its tool than the name. */
    static String orEmpty(@Nullable String said) {
        return said == null ? "" : said;
    }

    private List<ToolInfo> builtIn() {
        return new OfflineToolCatalog(clock()).specs().stream()
                .map(spec -> new ToolInfo(spec.name(), spec.description(), "builtin", spec.effects().wire(),
                        (int) spec.defaultTimeout().toSeconds(), "tool", spec.inputSchema(), spec.outputSchema(), null))
                .toList();
    }

    private static JsonNode document(ToolInfo tool) {
        ObjectNode json = Json.object().put("name", tool.name()).put("description", tool.description())
                .put("source", tool.source()).put("effects", tool.effects());
        json.set("input_schema", tool.inputSchema());
        json.set("output_schema", tool.outputSchema());
        ToolInfo.Mcp mcp = tool.mcp();
        return mcp == null ? json.putNull("mcp")
                : json.set("mcp", Json.object().put("server", mcp.server()).put("state", mcp.state())
                        .put("trusted", mcp.trusted()));
    }
}
