package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.Prompt;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.Terminals;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "delete",
        description = "Closes a workspace and removes its data in the background. Its ledger and the audit log stay.",
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces delete acme --yes"})
final class WorkspacesDeleteCommand extends CliCommand {

    @Parameters(paramLabel = "WORKSPACE", description = "Its id, or its name.")
    String workspace;

    @Option(names = {"-y", "--yes"}, description = "Do not ask for confirmation.")
    boolean yes;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            String id = WorkspaceIds.of(keelson, workspace);
            Boolean sure = yes ? Boolean.TRUE
                    : Terminals.interactive()
                            ? Prompt.ask(out(), "permanently delete all data of workspace " + id + "?")
                            : null;
            if (sure == null) {
                throw CliException.usage("CONFIRMATION_NEEDED", "this permanently removes all data of workspace " + id
                        + "; without a terminal, --yes is required");
            }
            if (!sure) {
                note("nothing was changed");
                return ExitCode.OK;
            }
            WorkspacesCommand.show(this, keelson.workspaces().delete(id));
            return ExitCode.OK;
        }
    }
}
