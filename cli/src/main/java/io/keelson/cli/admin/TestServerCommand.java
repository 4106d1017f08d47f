package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.Logging;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "test-server", description = {"Runs a server for tests until SIGTERM or Ctrl-C.",
        "It has throwaway data, a clock that tests move, a model that answers by script, and faults of workers that tests name; its requests below /test/ exist nowhere else. Needs no API key. See docs/guide/testing.md."},
        footer = {"  keelson test-server --port 7340", "  curl -X POST http://127.0.0.1:7340/test/workspaces"})
public final class TestServerCommand extends CliCommand {
    private static final int MAX_PORT = 65_535;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "7340",
            description = "Default: ${DEFAULT-VALUE}; 0 selects a free port.")
    int port;

    @Option(names = "--until-input-ends",
            description = "End when standard input ends, too, so that it does not outlive the program that started it.")
    boolean untilInputEnds;

    @Override
    public Integer call() throws InterruptedException {
        if (port < 0 || port > MAX_PORT) {
            throw CliException.usage("INVALID_PORT", "--port must be 0 to " + MAX_PORT + ", not " + port);
        }
        CountDownLatch over = new CountDownLatch(1);
        try (TestServerStart started = TestServerStart.start(environment(), port, clock())) {
            // A refused start leaves the log of a calling test as it is.
            Logging.toStandardError(settings());
            if (json) {
                print(Json.object().put("url", started.url()));
            } else {
                note("The test server listens at " + started.url());
                note("Press Ctrl-C to stop");
            }
            if (untilInputEnds) {
                awaitInput();
            } else {
                over.await();
            }
            return ExitCode.OK;
        } catch (StartupException e) {
            throw CliException.startup(e);
        }
    }

    private static void awaitInput() {
        try {
            while (System.in.read() >= 0) {
                // Bytes have no meaning.
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
