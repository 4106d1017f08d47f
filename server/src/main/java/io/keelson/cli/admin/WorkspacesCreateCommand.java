package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.ServerConnection;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "create",
        description = "Creates a workspace without credits. Then grant it credits and create a key for it.",
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces create acme",
                "  keelson workspaces create acme --limit open_runs=100 --limit steps=20"})
final class WorkspacesCreateCommand extends CliCommand {

    @Parameters(paramLabel = "NAME", description = "For people.")
    String name;

    @Mixin
    LimitOptions limits = new LimitOptions();

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        Map<String, Long> most = new LinkedHashMap<>();
        limits.changes().forEach((limit, number) -> {
            if (number != null) {
                most.put(limit, number);
            }
        });
        try (ServerConnection server = link()) {
            WorkspacesCommand.show(this, server.keelson().workspaces().create(name, most));
            note("the workspace has no credits yet: " + ProgramName.current() + " credits grant N --workspace \"" + name
                    + "\"");
            return ExitCode.OK;
        }
    }
}
