package io.keelson.cli;

import io.keelson.client.Run;
import io.keelson.client.Runs;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Something done to one run, which may be watched afterwards. */
abstract class ActionCommand extends CliCommand {

    @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    @Option(names = {"-w", "--watch"}, description = "Follow the run afterwards, as `watch` does.")
    boolean watch;

    @Mixin
    Watching watching;

    /** Does it and returns the run as it is then. */
    abstract Run act(Link link, Runs runs, String id);

    @Override
    public final Integer call() throws InvalidSettingsException, StartupException, IOException {
        try (Link link = Link.open(settings(), watch ? Link.Work.ALL : Link.Work.NONE, this::news)) {
            String id = RunDocuments.id(link.keelson(), run);
            Run after = act(link, link.keelson().runs(), id);
            if (watch) {
                return watching.watch(this, link, after);
            }
            if (json) {
                print(RunDocuments.run(link.keelson(), id));
            } else {
                print(List.of("run " + id + " is " + style().state(after.state())));
                if (link.own() && !after.ended() && !after.stateType().equals("paused")) {
                    note("no server runs: `" + Cli.command() + " watch " + id + "` carries the run on, and so does `"
                            + Cli.command() + " server`");
                }
            }
            return ExitCode.OK;
        }
    }
}
