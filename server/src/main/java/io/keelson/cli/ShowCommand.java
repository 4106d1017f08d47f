package io.keelson.cli;

import io.keelson.cli.view.Details;
import io.keelson.cli.view.Summary;
import io.keelson.cli.view.Waits;
import io.keelson.client.Artifact;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import io.keelson.client.Step;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "show", description = {"Shows a run with its tasks, steps, errors and artifacts.",
        "The runs that its steps have started stand below them, three levels deep."},
        footerHeading = "%nExamples:%n", footer = {"  keelson show latest",
                "  keelson show latest --out reports       # copies its artifacts there",
                "  keelson show latest --json | jq '.tasks[] | {key, state}'"})
final class ShowCommand extends CliCommand {

    @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    @Option(names = "--out", paramLabel = "DIR", description = "Copy the run's artifacts to this folder.")
    @Nullable Path out;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException, IOException {
        try (Link link = link()) {
            String id = RunDocuments.id(link.keelson(), run);
            Runs runs = link.keelson().runs();
            List<Artifact> artifacts = runs.artifacts(id);
            Map<Artifact, Path> copies = out == null ? Map.of() : ArtifactFiles.copy(runs, artifacts, out);
            if (json) {
                print(RunDocuments.whole(link.keelson(), id, true));
                return ExitCode.OK;
            }
            Run shown = runs.get(id);
            List<Step> steps = runs.steps(id);
            List<String> lines = new ArrayList<>(
                    Details.lines(shown, RunDocuments.attempts(runs, shown), runs.tasks(id), steps,
                            RunDocuments.family(runs, shown), clock().instant(), style()));
            lines.addAll(Summary.lines(shown, artifacts, copies, Cli.command(), style()));
            lines.addAll(Summary.signals(shown, steps, Cli.command()));
            Waits waits = RunDocuments.waits(link.keelson(), shown);
            if (waits.any()) {
                lines.addAll(Summary.waiting(waits, Cli.command(), style()));
            }
            print(lines);
            return ExitCode.OK;
        }
    }
}
