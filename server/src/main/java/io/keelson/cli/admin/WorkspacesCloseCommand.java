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

@Command(name = "close",
        description = "Closes a workspace permanently: its keys stop working and its open runs are cancelled. Stored data stays.",
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces close acme"})
final class WorkspacesCloseCommand extends CliCommand {

    @Parameters(paramLabel = "WORKSPACE", description = "Its id, or its name.")
    String workspace;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            WorkspacesCommand.show(this, keelson.workspaces().close(WorkspaceIds.of(keelson, workspace)));
            return ExitCode.OK;
        }
    }
}
