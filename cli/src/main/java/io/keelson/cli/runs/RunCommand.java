package io.keelson.cli.runs;

import io.keelson.api.run.Run;
import io.keelson.cli.common.Browser;
import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ErrorReport;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.MissionCheck;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.TimeArgument;
import io.keelson.cli.follow.WatchOptions;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.app.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "run", description = {"Runs a mission and shows its progress.",
        "Uses the server at KEELSON_URL or the one running for the data folder. Without one, this process starts a server and stops it when the run has ended. The run is durable: after Ctrl-C, `keelson watch` continues it."},
        footer = {
                "  keelson run examples/repository-report.yaml --input path=.",
                "  keelson run mission.yaml --out reports     # copies its artifacts there",
                "  keelson run mission.yaml --json | jq .run.output",
                "  keelson run mission.yaml --open            # shows it in the browser",
                "  keelson run mission.yaml --detach          # on a running server",
                "  keelson run mission.yaml --at 2026-12-01T06:00"})
public final class RunCommand extends CliCommand {

    @Parameters(paramLabel = "FILE", description = "The mission, YAML or JSON; - for standard input.")
    String file;

    @Option(names = {"-i", "--input"}, paramLabel = "NAME=VALUE", description = "The value of an input; repeatable.")
    Map<String, String> inputs = new LinkedHashMap<>();

    @Option(names = "--name", paramLabel = "NAME",
            description = "The run's name, instead of the mission's.")
    @Nullable String name;

    @Option(names = "--external-id", paramLabel = "ID",
            description = "Your own id of the run, unique in the workspace.")
    @Nullable String externalId;

    @Option(names = "--external-id-policy", paramLabel = "POLICY",
            description = "When another run has that id: reject (default), existing to follow that run instead, after_end to reuse the id once it has ended.")
    @Nullable String externalIdPolicy;

    @Option(names = "--at", paramLabel = "TIME",
            description = "Start it at that time, such as 2026-12-01T06:00:00Z or, in this machine's time zone, 2026-12-01T06:00. The server starts it, as with --detach.")
    @Nullable String at;

    @Option(names = "--detach", description = "Create the run, print its id and end; the server executes the run.")
    boolean detach;

    @Option(names = "--open",
            description = "Show the run in the dashboard: prints a link, and opens it where there is a screen.")
    boolean open;

    @Mixin
    WatchOptions watch;

    @Override
    public Integer call() throws IOException {
        Settings settings = settings();
        MissionFile mission = MissionFile.read(file);
        mission.inputs(inputs, Path.of("").toAbsolutePath());
        if (name != null) {
            mission.rename(name);
        }
        mission.externalId(externalId, externalIdPolicy);
        check(mission, settings);
        watch.prepare();
        Instant start = at == null ? null : TimeArgument.of(at);
        if (detach || at != null) {
            Keelson keelson = ServerConnection.existing(settings);
            Run run = create(keelson, start, mission);
            showInBrowser(keelson, run);
            return detached(keelson, run);
        }
        try (ServerConnection server = ServerConnection.open(settings.withFoldersOfUser(mission.folders()),
                ServerConnection.Work.ALL, this::news)) {
            server.whenInterrupted(
                    () -> note(System.lineSeparator() + "interrupted; to check whether the run was created: "
                            + ProgramName.current() + " runs"));
            Run run = create(server.keelson(), start, mission);
            showInBrowser(server.keelson(), run);
            return watch.watch(this, server, run);
        }
    }

    /**
     * Reports problems before a server is started for the mission; a running server reports them itself, with more
     * knowledge.
     */
    private void check(MissionFile mission, Settings settings) {
        if (ServerConnection.find(settings) == null) {
            List<PlanProblem> problems = MissionCheck.problems(mission.document(), clock(), Set.of());
            if (MissionCheck.certain(problems)) {
                throw mission.invalid(problems);
            }
        }
    }

    /** Creates the run; reports problems found by the server with the lines of the file. */
    private static Run create(Keelson keelson, @Nullable Instant start, MissionFile mission) {
        mission.ofRecipe(keelson);
        RunRequest request = RunRequest.of(mission.document());
        try {
            return keelson.runs().create(start == null ? request.start() : request.startAt(start));
        } catch (KeelsonException e) {
            throw e.problems().isEmpty() ? e : mission.invalid(ErrorReport.problems(e));
        }
    }

    private void showInBrowser(Keelson keelson, Run run) {
        if (open) {
            String url = Browser.link(keelson, run.id());
            note(url);
            var _ = Browser.open(url, environment());
        }
    }

    private int detached(Keelson keelson, Run run) {
        if (json) {
            print(RunDocuments.run(keelson, run.id()));
        } else {
            print(List.of(run.id()));
            note(run.state().equals("created")
                    ? "it starts at " + run.startAt() + "; follow it with: " + ProgramName.current()
                            + " watch " + run.id()
                    : "started; follow it with: " + ProgramName.current() + " watch " + run.id());
        }
        return ExitCode.OK;
    }
}
