package io.keelson.cli.models;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "dev-model", description = {
        "Runs a model server that answers by a script, until SIGTERM or Ctrl-C.",
        "Speaks OpenAI responses, OpenAI chat completions and Anthropic messages. Needs no API key, reaches no other server, and keeps a journal of what it billed. See docs/guide/dev-model.md for scripts."},
        footer = {"  keelson dev-model",
                "  keelson dev-model --script examples/dev-model.yaml --journal journal.jsonl"})
public final class DevModelCommand extends CliCommand {

    private static final int MAX_PORT = 65_535;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "7332",
            description = "Default: ${DEFAULT-VALUE}; 0 selects a free port.")
    int port;

    @Option(names = "--host", paramLabel = "ADDRESS", defaultValue = "127.0.0.1",
            description = "Default: ${DEFAULT-VALUE}. Clients are not authenticated.")
    String host = "";

    @Option(names = "--script", paramLabel = "FILE", description = "The rules for answers, YAML or JSON.")
    @Nullable String script;

    @Option(names = "--journal", paramLabel = "FILE",
            description = "Append a line of JSON for each request, with the tokens that were billed.")
    @Nullable Path journal;

    @Override
    public Integer call() throws InterruptedException {
        if (port < 0 || port > MAX_PORT) {
            throw CliException.usage("INVALID_PORT", "--port must be 0 to " + MAX_PORT + ", not " + port);
        }
        int listening = DevModelStart.start(host, port, script, journal, clock());
        String url = "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + listening;
        if (json) {
            print(Json.object().put("url", url));
        } else {
            note("dev-model listens at " + url + ", its journal is at " + url + "/journal");
            note("Press Ctrl-C to stop");
        }
        new CountDownLatch(1).await();
        return ExitCode.OK;
    }
}
