package io.keelson.cli.control;

import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import picocli.CommandLine.Command;

@Command(name = "pause",
        description = "Pauses a run: running steps finish and keep their results, no other step starts.",
        footerHeading = "%nExamples:%n", footer = "  keelson pause latest")
public final class PauseCommand extends ActionCommand {

    @Override
    public Run act(ServerConnection server, Runs runs, String id) {
        return runs.pause(id);
    }
}
