package io.keelson.cli.runs;

import io.keelson.cli.common.OneRunCommand;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.follow.WatchOptions;
import io.keelson.client.Keelson;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "watch", description = {"Follows a run until it ends, as `run` does.",
        "Without a running server, this process starts one and executes the run."},
        footer = {"  keelson watch latest",
                "  keelson watch 0198a6f2-7c1e-7000-8000-5d1f0c3b2a10 --out reports"})
public final class WatchCommand extends OneRunCommand {

    @Mixin
    WatchOptions watch;

    @Override
    protected void prepare() {
        watch.prepare();
    }

    @Override
    protected Work work() {
        return Work.CONTINUE;
    }

    @Override
    protected void run(Keelson keelson, String id) throws IOException {
        exitCode(watch.join(this, server(), keelson.runs().get(id)));
    }
}
