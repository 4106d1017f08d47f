package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.Logging;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.Terminals;
import io.keelson.client.Json;
import io.keelson.server.app.KeelsonVersion;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.problem.StartupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "server", description = {"Runs a server until SIGTERM or Ctrl-C.",
        "Prints its address and the place of the API key, and logs to standard error. On SIGTERM or Ctrl-C it releases its running steps before it ends. See docs/reference/configuration.md for its settings."},
        footer = {"  keelson server", "  keelson server --port 0     # any free port",
                "  KEELSON_DATABASE_URL=postgresql://user:password@db:5432/keelson keelson server"})
public final class ServerCommand extends CliCommand {

    @Option(names = "--port", paramLabel = "PORT",
            description = "Port to listen at, overrides KEELSON_HTTP_PORT; 0 selects a free port.")
    @Nullable Integer port;

    @Option(names = "--host", paramLabel = "ADDRESS",
            description = "Address to listen at, overrides KEELSON_HTTP_HOST.")
    @Nullable String host;

    private volatile @Nullable Server server;
    private volatile boolean starting = true;
    private volatile boolean interrupted;

    @Override
    public Integer call() throws InterruptedException {
        Settings settings = settings();
        Settings chosen = settings.withHttp(host == null ? settings.http().host() : host,
                port == null ? settings.http().port() : port);
        Logging.toStandardError(chosen);
        Runtime.getRuntime().addShutdownHook(new Thread(this::interrupt, "keelson-shutdown"));
        try (Server started = start(chosen)) {
            announce(chosen, started);
            IdleHeapTrimmer heap = new IdleHeapTrimmer(Runtime.getRuntime());
            while (!started.awaitEnd(IdleHeapTrimmer.PERIOD)) {
                heap.look();
            }
            StartupException failure = started.failure();
            if (failure != null) {
                throw failure;
            }
            return ExitCode.OK;
        } catch (StartupException e) {
            if (interrupted) {
                return ExitCode.INTERRUPTED;
            }
            throw CliException.startup(e);
        }
    }

    private Server start(Settings chosen) throws StartupException {
        try {
            Server started = Server.start(chosen);
            server = started;
            return started;
        } finally {
            starting = false;
        }
    }

    /** Handles Ctrl-C and SIGTERM. Before the server is ready there is no work to release. */
    private void interrupt() {
        interrupted = true;
        Server running = server;
        if (running != null) {
            running.close();
        } else if (starting) {
            note("interrupted before the server was ready");
        }
    }

    /** Null where the key is from the settings. */
    private static @Nullable String keyFile(Settings chosen) {
        return chosen.keys().bootstrapText() == null ? chosen.dataDir().resolve("api-key").toString() : null;
    }

    private void announce(Settings chosen, Server server) {
        if (json) {
            print(Json.object().put("url", server.baseUrl().toString())
                    .put("api_key_file", keyFile(chosen)));
        } else if (chosen.log().format() == Settings.LogFormat.JSON) {
            LoggerFactory.getLogger(ServerCommand.class).info("Keelson {} listens at {}", KeelsonVersion.current(),
                    server.baseUrl());
        } else {
            note("Keelson " + KeelsonVersion.current() + " listens at " + server.baseUrl());
            String link = Terminals.interactive() ? server.dashboardLink() : null;
            if (link != null) {
                note("Dashboard, for one sign-in within a minute: " + link);
            }
            if (chosen.http().dashboard()) {
                note((link == null ? "Link to the dashboard: " : "Another link: ") + ProgramName.current() + " open");
            }
            note("API key: " + (chosen.keys().bootstrapText() == null ? keyFile(chosen) : "the bootstrap key"));
            note("Press Ctrl-C to stop");
        }
    }
}
