package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Workspace;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;

@Command(name = "workspaces", description = "Lists the workspaces of the installation, newest first. For operators.",
        subcommands = {WorkspacesCreateCommand.class, WorkspacesShowCommand.class, WorkspacesLimitsCommand.class,
                WorkspacesFoldersCommand.class, WorkspacesCloseCommand.class, WorkspacesDeleteCommand.class},
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces",
                "  keelson workspaces create acme --limit steps=20",
                "  keelson keys create deployer --workspace acme --scope runs:write"})
public final class WorkspacesCommand extends CliCommand {

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            List<Workspace> all = server.keelson().workspaces().list();
            if (json) {
                print(Json.object().set("items", Json.document(all)));
                return ExitCode.OK;
            }
            Table table = new Table("WORKSPACE", "STATE", "AGE", "NAME");
            for (Workspace each : all) {
                table.row(each.id(), each.state(), each.createdAt() == null ? ""
                        : AmountText.age(Duration.between(each.createdAt(), clock().instant())),
                        TerminalText.clean(each.name()));
            }
            print(table.lines(style()));
            return ExitCode.OK;
        }
    }

    /** Tells of one. */
    static void show(CliCommand command, Workspace workspace) {
        if (command.json) {
            command.print(Json.document(workspace));
            return;
        }
        List<String> lines = new ArrayList<>(List.of(command.style().bold(TerminalText.clean(workspace.name())),
                workspace.id() + "  " + workspace.state()));
        lines.addAll(LimitOptions.lines(workspace.limits(), workspace.use()));
        lines.add(String.format("%-20s %s", "folders", folders(workspace)));
        command.print(lines);
    }

    private static String folders(Workspace workspace) {
        List<String> folders = workspace.allowedFolders();
        return folders == null ? "from the server's settings"
                : folders.isEmpty() ? "none" : TerminalText.clean(String.join("  ", folders));
    }
}
