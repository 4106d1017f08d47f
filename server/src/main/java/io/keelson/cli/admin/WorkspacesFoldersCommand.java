package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "folders",
        description = "Sets the folders of a workspace for file tools and processes, instead of KEELSON_ALLOWED_FOLDERS; without folders shows them.",
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces folders acme /srv/acme /srv/shared",
                "  keelson workspaces folders acme --none", "  keelson workspaces folders acme --of-server"})
final class WorkspacesFoldersCommand extends CliCommand {

    @Parameters(index = "0", paramLabel = "WORKSPACE", description = "Its id, or its name.")
    String workspace;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "FOLDER",
            description = "An absolute path on the server. Relative paths in missions are relative to the first.")
    List<String> folders = new ArrayList<>();

    @ArgGroup
    @Nullable Instead instead;

    static final class Instead {
        @Option(names = "--none", description = "Allow no folder.")
        boolean none;

        @Option(names = "--of-server", description = "Use those of the server's settings again.")
        boolean ofServer;
    }

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        if (instead != null && !folders.isEmpty()) {
            throw CliException.usage("USAGE", "give folders, --none or --of-server");
        }
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            String id = WorkspaceIds.of(keelson, workspace);
            if (instead != null || !folders.isEmpty()) {
                keelson.workspaces().folders(id, instead != null && instead.ofServer ? null : folders);
            }
            WorkspacesCommand.show(this, keelson.workspaces().get(id));
            return ExitCode.OK;
        }
    }
}
