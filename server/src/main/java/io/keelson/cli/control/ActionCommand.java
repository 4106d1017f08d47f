package io.keelson.cli.control;

import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import picocli.CommandLine.Parameters;

/** Something done to one run, which may be watched afterwards. */
public abstract class ActionCommand extends RunChange {

    @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    /** Executes the action and returns the run after it. */
    public abstract Run act(ServerConnection server, Runs runs, String id);

    @Override
    public final Run change(ServerConnection server) {
        return act(server, server.keelson().runs(), RunDocuments.id(server.keelson(), run));
    }
}
