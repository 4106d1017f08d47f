package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "show", description = "Shows a workspace: its limits and what it uses.",
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces show acme"})
final class WorkspacesShowCommand extends CliCommand {

    @Parameters(paramLabel = "WORKSPACE", description = "Its id, or its name.")
    String workspace;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            WorkspacesCommand.show(this, keelson.workspaces().get(WorkspaceIds.of(keelson, workspace)));
            return ExitCode.OK;
        }
    }
}
