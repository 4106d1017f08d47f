package io.keelson.cli;

import io.keelson.client.Run;
import io.keelson.client.Runs;
import picocli.CommandLine.Command;

@Command(name = "pause", description = "Pauses a run: steps at work finish and keep their results, nothing new starts.",
        footerHeading = "%nExamples:%n", footer = "  keelson pause latest")
final class PauseCommand extends ActionCommand {

    @Override
    Run act(Link link, Runs runs, String id) {
        return runs.pause(id);
    }
}
