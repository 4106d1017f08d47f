package io.keelson.cli.control;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.follow.WatchOptions;
import io.keelson.client.Run;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A change of a run, which may be watched afterwards. */
public abstract class RunChange extends CliCommand {

    @Option(names = {"-w", "--watch"}, description = "Follow the run afterwards, as `watch` does.")
    boolean watch;

    @Mixin
    WatchOptions watchOptions;

    /** Executes the action and returns the changed run; null where it was about no run. */
    public abstract @Nullable Run change(ServerConnection server);

    @Override
    public Integer call() throws InvalidSettingsException, StartupException, IOException {
        watchOptions.prepare();
        try (ServerConnection server = ServerConnection.open(settings(),
                watch ? ServerConnection.Work.ALL : ServerConnection.Work.NONE, this::news)) {
            Run after = change(server);
            if (after == null) {
                return ExitCode.OK;
            }
            if (watch) {
                return watchOptions.join(this, server, after);
            }
            if (json) {
                print(RunDocuments.run(server.keelson(), after.id()));
            } else {
                print(List.of("run " + after.id() + " is " + style().state(after)));
                if (server.own() && !after.ended() && !after.stateType().equals("paused")) {
                    note("no server runs: `" + ProgramName.current() + " watch " + after.id()
                            + "` or `" + ProgramName.current() + " server` continues the run");
                }
            }
            return ExitCode.OK;
        }
    }

    /** Says in words what became of something else than the run. */
    public final void said(String what) {
        if (!json) {
            note(what);
        }
    }
}
