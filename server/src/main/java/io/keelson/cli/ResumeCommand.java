package io.keelson.cli;

import io.keelson.client.Run;
import io.keelson.client.Runs;
import picocli.CommandLine.Command;

@Command(name = "resume", description = "Lets a paused run go on.", footerHeading = "%nExamples:%n",
        footer = "  keelson resume latest --watch")
final class ResumeCommand extends ActionCommand {

    @Override
    Run act(Link link, Runs runs, String id) {
        return runs.resume(id);
    }
}
