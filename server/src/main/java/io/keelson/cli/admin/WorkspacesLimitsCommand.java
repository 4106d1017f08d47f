package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.LimitsAndUse;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "limits",
        description = "Changes the limits of a workspace; without --limit shows the limits of your own.",
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces limits",
                "  keelson workspaces limits acme --limit steps=20 --limit tool:gpu.render=2",
                "  keelson workspaces limits acme --limit steps=none"})
final class WorkspacesLimitsCommand extends CliCommand {

    @Parameters(arity = "0..1", paramLabel = "WORKSPACE", description = "Its id or name; your own when not given.")
    @Nullable String workspace;

    @Mixin
    LimitOptions limits = new LimitOptions();

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            if (workspace == null) {
                own(keelson);
            } else {
                String id = WorkspaceIds.of(keelson, workspace);
                if (!limits.limits.isEmpty()) {
                    keelson.workspaces().limit(id, limits.changes());
                }
                WorkspacesCommand.show(this, keelson.workspaces().get(id));
            }
            return ExitCode.OK;
        }
    }

    private void own(Keelson keelson) {
        if (!limits.limits.isEmpty()) {
            throw CliException.usage("USAGE", "give the workspace whose limits to change");
        }
        LimitsAndUse own = keelson.limits();
        if (json) {
            print(Json.document(own));
        } else {
            print(LimitOptions.lines(own.limits(), own.use()));
        }
    }
}
