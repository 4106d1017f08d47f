package io.keelson.cli.control;

import io.keelson.api.run.Run;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.follow.WatchOptions;
import io.keelson.client.Keelson;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A change of a run, which may be watched afterwards. */
public abstract class RunChange extends ClientCommand {

    @Option(names = {"-w", "--watch"}, description = "Follow the run afterwards, as `watch` does.")
    boolean watch;

    @Mixin
    WatchOptions watchOptions;

    /** Executes the action and returns the changed run; null where it was about no run. */
    public abstract @Nullable Run change(Keelson keelson);

    @Override
    protected void prepare() {
        watchOptions.prepare();
    }

    @Override
    protected Work work() {
        return watch ? Work.CONTINUE : Work.NONE;
    }

    @Override
    protected void run(Keelson keelson) throws IOException {
        Run after = change(keelson);
        if (after == null) {
            return;
        }
        if (watch) {
            exitCode(watchOptions.join(this, server(), after));
        } else if (json) {
            print(RunDocuments.run(keelson, after.id()));
        } else {
            print(List.of(outcome(after)));
            if (server().own() && !after.ended() && !after.stateType().equals("paused")) {
                note("no server runs: `" + ProgramName.current() + " watch " + after.id() + "` or `"
                        + ProgramName.current() + " server` continues the run");
            }
        }
    }

    /** The line about the changed run. */
    protected String outcome(Run after) {
        return "run " + after.id() + " is " + style().state(after);
    }

    /** Says in words what became of something else than the run. */
    public final void said(String what) {
        if (!json) {
            note(what);
        }
    }
}
