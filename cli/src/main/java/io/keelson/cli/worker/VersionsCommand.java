package io.keelson.cli.worker;

import io.keelson.api.work.ToolVersions;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "versions", description = "Lists the versions of workers by tool, with their states and counts.",
        subcommands = {VersionsCommand.Promote.class, VersionsCommand.Rollback.class, VersionsCommand.Clear.class},
        footer = {"  keelson versions", "  keelson versions crm.update",
                "  keelson versions promote crm.update 1.4.1", "  keelson versions promote crm.update 1.4.2 --ramp 10",
                "  keelson versions rollback crm.update"})
public final class VersionsCommand extends ClientCommand {

    @Parameters(paramLabel = "TOOL", arity = "0..1", description = "One tool.")
    @Nullable String tool;

    @Override
    protected void run(Keelson keelson) {
        String wanted = tool;
        if (wanted != null) {
            show(keelson.versions().get(wanted), each -> lines(List.of(each), style()));
            return;
        }
        List<ToolVersions> all = keelson.versions().list();
        print(() -> Json.object().set("items", Json.document(all)),
                () -> all.isEmpty() ? List.of("no worker announces a version, and no tool has a rule")
                        : lines(all, style()));
    }

    private static List<String> lines(List<ToolVersions> tools, Style style) {
        Table table = new Table("TOOL", "VERSION", "STATE", "WORKERS", "RUNS", "WAITING", "BEHAVIOR");
        for (ToolVersions tool : tools) {
            for (ToolVersions.Version version : tool.versions()) {
                table.row(TerminalText.clean(tool.tool()), TerminalText.clean(version.version()),
                        version.state().equals("ramping") ? "ramping " + tool.percent() + " %" : version.state(),
                        Integer.toString(version.workers()), Integer.toString(version.runs()),
                        Integer.toString(version.waiting()), tool.behavior() == null ? "" : tool.behavior());
            }
        }
        return table.lines(style);
    }

    @Command(name = "promote",
            description = "Makes a version of workers the current one of a tool, or gives it a part of the runs.",
            footer = {"  keelson versions promote crm.update 1.4.1",
                    "  keelson versions promote crm.update 1.4.2 --ramp 10",
                    "  keelson versions promote crm.update unversioned   # workers that announce no version"})
    static final class Promote extends ChangeCommand {
        private static final int ALL = 100;

        @Parameters(index = "0", paramLabel = "TOOL", description = "Name of the tool.")
        String tool = "";

        @Parameters(index = "1", paramLabel = "VERSION", description = "The version, as workers announce it.")
        String version = "";

        @Option(names = "--ramp", paramLabel = "PERCENT",
                description = "Percent of the runs that get the version, 1 to 100; the others keep the current one.")
        @Nullable Integer ramp;

        @Option(names = "--behavior", paramLabel = "BEHAVIOR",
                description = "pinned: a run stays with the version of its first claim; latest: each claim follows the rule. Default: as before, at first pinned.")
        @Nullable String behavior;

        @Override
        protected void prepare() {
            if (ramp != null && (ramp < 1 || ramp > ALL)) {
                throw CliException.usage("INVALID_RAMP", "--ramp must be 1 to 100, not " + ramp);
            }
            if (behavior != null && !List.of("pinned", "latest").contains(behavior)) {
                throw CliException.usage("INVALID_BEHAVIOR",
                        "--behavior must be pinned or latest, not '" + behavior + "'");
            }
        }

        @Override
        protected void run(Keelson keelson) {
            show(ramp == null ? keelson.versions().promote(tool, version, behavior)
                    : keelson.versions().ramp(tool, version, ramp, behavior), each -> lines(List.of(each), style()));
        }
    }

    @Command(name = "rollback",
            description = "Ends the ramp of a tool; without one returns to the version before the current one.")
    static final class Rollback extends ChangeCommand {

        @Parameters(paramLabel = "TOOL", description = "Name of the tool.")
        String tool = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.versions().rollback(tool), each -> lines(List.of(each), style()));
        }
    }

    @Command(name = "clear", description = "Removes the rule of a tool: any worker gets its steps, of any version.")
    static final class Clear extends ChangeCommand {

        @Parameters(paramLabel = "TOOL", description = "Name of the tool.")
        String tool = "";

        @Override
        protected void run(Keelson keelson) {
            keelson.versions().clear(tool);
            note("any worker gets the steps of " + TerminalText.clean(tool));
        }
    }
}
