package io.keelson.cli;

import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "watch", description = {"Shows how a run stands and follows it until it ends, as `run` does.",
        "Where no server runs, one lives in this process meanwhile and carries the run on."},
        footerHeading = "%nExamples:%n", footer = {"  keelson watch latest",
                "  keelson watch 0198a6f2-7c1e-7000-8000-5d1f0c3b2a10 --out reports"})
final class WatchCommand extends CliCommand {

    @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    @Mixin
    Watching watching;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException, IOException {
        watching.prepare();
        try (Link link = Link.open(settings(), Link.Work.ALL, this::news)) {
            String id = RunDocuments.id(link.keelson(), run);
            return watching.join(this, link, link.keelson().runs().get(id));
        }
    }
}
