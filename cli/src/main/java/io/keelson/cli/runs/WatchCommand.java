package io.keelson.cli.runs;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.follow.WatchOptions;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "watch", description = {"Follows a run until it ends, as `run` does.",
        "Without a running server, this process starts one and executes the run."},
        footerHeading = "%nExamples:%n", footer = {"  keelson watch latest",
                "  keelson watch 0198a6f2-7c1e-7000-8000-5d1f0c3b2a10 --out reports"})
public final class WatchCommand extends CliCommand {

    @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    @Mixin
    WatchOptions watch;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException, IOException {
        watch.prepare();
        try (ServerConnection server = ServerConnection.open(settings(), ServerConnection.Work.ALL, this::news)) {
            String id = RunDocuments.id(server.keelson(), run);
            return watch.join(this, server, server.keelson().runs().get(id));
        }
    }
}
