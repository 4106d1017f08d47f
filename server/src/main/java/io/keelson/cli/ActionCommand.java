package io.keelson.cli;

import io.keelson.client.Run;
import io.keelson.client.Runs;
import picocli.CommandLine.Parameters;

/** Something done to one run, which may be watched afterwards. */
abstract class ActionCommand extends RunChange {

    @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    /** Does it and returns the run as it is then. */
    abstract Run act(Link link, Runs runs, String id);

    @Override
    final Run change(Link link) {
        return act(link, link.keelson().runs(), RunDocuments.id(link.keelson(), run));
    }
}
