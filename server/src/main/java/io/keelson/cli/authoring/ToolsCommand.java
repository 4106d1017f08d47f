package io.keelson.cli.authoring;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.Table;
import io.keelson.client.Json;
import io.keelson.client.ToolInfo;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.OfflineToolCatalog;
import io.keelson.server.plan.NameSuggestion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "tools",
        description = "Lists the tools that steps can use, or shows one with its JSON Schemas. Built-in tools need no server.",
        footerHeading = "%nExamples:%n",
        footer = {
                "  keelson tools",
                "  keelson tools files.list",
                "  keelson tools --server          # including tools of workers"})
public final class ToolsCommand extends CliCommand {

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "One tool.")
    @Nullable String name;

    @Option(names = "--server", description = "Ask the server, which also lists the tools of its workers.")
    boolean server;

    @Override
    public Integer call() throws InvalidSettingsException {
        List<ToolInfo> tools = server ? ServerConnection.existing(settings()).tools() : builtIn();
        String wanted = name;
        if (wanted != null) {
            ToolInfo tool = tools.stream().filter(each -> each.name().equals(wanted)).findFirst()
                    .orElseThrow(() -> CliException.usage("TOOL_UNKNOWN", "unknown tool " + wanted
                            + NameSuggestion.hint(wanted, tools.stream().map(ToolInfo::name).toList()) + "; known are "
                            + String.join(", ", tools.stream().map(ToolInfo::name).toList())));
            show(tool);
        } else if (json) {
            ObjectNode list = JsonNodeFactory.instance.objectNode();
            tools.forEach(tool -> list.withArrayProperty("items").add(document(tool)));
            print(list);
        } else {
            Table table = new Table("TOOL", "EFFECTS", "DESCRIPTION");
            tools.forEach(tool -> table.row(tool.name(), orEmpty(tool.effects()), orEmpty(tool.description())));
            print(table.lines(style()));
        }
        return ExitCode.OK;
    }

    private void show(ToolInfo tool) {
        if (json) {
            print(document(tool));
            return;
        }
        List<String> lines = new ArrayList<>(List.of(style().bold(tool.name()), orEmpty(tool.description())));
        lines.addAll(List.of("", "input", tool.inputSchema().toPrettyString(), "", "output",
                tool.outputSchema().toPrettyString()));
        print(lines);
    }

    /** A worker need not say more of its tool than the name. */
    static String orEmpty(@Nullable String said) {
        return said == null ? "" : said;
    }

    private List<ToolInfo> builtIn() {
        return new OfflineToolCatalog(clock()).specs().stream()
                .map(spec -> new ToolInfo(spec.name(), spec.description(), spec.effects().wire(), spec.inputSchema(),
                        spec.outputSchema()))
                .toList();
    }

    private static JsonNode document(ToolInfo tool) {
        ObjectNode json = Json.object().put("name", tool.name()).put("description", tool.description())
                .put("effects", tool.effects());
        json.set("input_schema", tool.inputSchema());
        json.set("output_schema", tool.outputSchema());
        return json;
    }
}
