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
        description = "Closes a workspace and removes what it has, little by little. Its ledger and the audit log stay.",
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces delete acme --yes"})
final class WorkspacesDeleteCommand extends CliCommand {

    @Parameters(paramLabel = "WORKSPACE", description = "Its id, or its name.")
    String workspace;

    @Option(names = {"-y", "--yes"}, description = "Do not ask.")
    boolean yes;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            String id = WorkspaceIds.of(keelson, workspace);
            Boolean sure = yes ? Boolean.TRUE
                    : Terminals.interactive()
                            ? Prompt.ask(out(), "delete all that workspace " + id + " has, for good?")
                            : null;
            if (sure == null) {
                throw CliException.usage("CONFIRMATION_NEEDED", "this removes all that workspace " + id
                        + " has, for good; say --yes, as there is no terminal to ask at");
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
