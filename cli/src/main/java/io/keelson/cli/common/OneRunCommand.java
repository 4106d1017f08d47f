package io.keelson.cli.common;

import io.keelson.client.Keelson;
import java.io.IOException;
import picocli.CommandLine.Parameters;

/** A command about one run. */
public abstract class OneRunCommand extends ClientCommand {

    @Parameters(index = "0", paramLabel = "RUN", description = "The run's id, or latest.")
    private String run = "";

    /** Does the work and prints the result. */
    protected abstract void run(Keelson keelson, String id) throws IOException;

    @Override
    protected final void run(Keelson keelson) throws IOException {
        run(keelson, RunDocuments.id(keelson, run));
    }
}
