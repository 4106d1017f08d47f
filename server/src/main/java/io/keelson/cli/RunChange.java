package io.keelson.cli;

import io.keelson.client.Run;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Something that moves a run, which may be watched afterwards. */
abstract class RunChange extends CliCommand {

    @Option(names = {"-w", "--watch"}, description = "Follow the run afterwards, as `watch` does.")
    boolean watch;

    @Mixin
    Watching watching;

    /** Does it and returns the run that it moved, as it is then. */
    abstract Run change(Link link);

    @Override
    public Integer call() throws InvalidSettingsException, StartupException, IOException {
        watching.prepare();
        try (Link link = Link.open(settings(), watch ? Link.Work.ALL : Link.Work.NONE, this::news)) {
            Run after = change(link);
            if (watch) {
                return watching.join(this, link, after);
            }
            if (json) {
                print(RunDocuments.run(link.keelson(), after.id()));
            } else {
                print(List.of("run " + after.id() + " is " + style().state(after)));
                if (link.own() && !after.ended() && !after.stateType().equals("paused")) {
                    note("no server runs: `" + ProgramName.current() + " watch " + after.id()
                            + "` carries the run on, and so does `" + ProgramName.current() + " server`");
                }
            }
            return ExitCode.OK;
        }
    }

    /** Says in words what became of something else than the run. */
    final void said(String what) {
        if (!json) {
            note(what);
        }
    }
}
