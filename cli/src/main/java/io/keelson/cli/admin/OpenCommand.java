package io.keelson.cli.admin;

import io.keelson.cli.common.Browser;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.client.Keelson;
import io.keelson.server.base.json.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "open", description = {"Opens the dashboard of a running server in the browser, signed in.",
        "Prints the link, which signs one browser in, once and within a minute. Without a screen, as over SSH, it only prints it."},
        footer = {"  keelson open", "  keelson open latest  # shows the newest run",
                "  keelson open --print # for the browser of another machine"})
public final class OpenCommand extends ClientCommand {

    @Parameters(arity = "0..1", paramLabel = "RUN", description = "Show this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--print", description = "Print the link without opening it.")
    boolean printOnly;

    @Override
    protected void run(Keelson keelson) {
        String id = RunDocuments.idIfGiven(keelson, run);
        String url = Browser.link(keelson, id == null ? null : keelson.runs().get(id).id());
        print(() -> Json.object().put("url", url), () -> List.of(url));
        if (!printOnly && !json) {
            var _ = Browser.open(url, environment());
        }
    }
}
