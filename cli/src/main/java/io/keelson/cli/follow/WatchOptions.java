package io.keelson.cli.follow;

import io.keelson.api.run.Artifact;
import io.keelson.api.run.Run;
import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.Sleep;
import io.keelson.cli.common.Terminals;
import io.keelson.cli.view.Details;
import io.keelson.cli.view.PendingDecisions;
import io.keelson.cli.view.RunTree;
import io.keelson.cli.view.Subject;
import io.keelson.cli.view.Summary;
import io.keelson.client.Api;
import io.keelson.client.InboxQuery;
import io.keelson.client.Runs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** Following a run to its end, with everything that people are shown and asked on the way. */
public final class WatchOptions {

    @Option(names = "--timeout", paramLabel = "SECONDS",
            description = "Stop watching after so many seconds, such as 60, with exit code 124; the run is kept.")
    @Nullable Integer timeoutSeconds;

    @Option(names = "--out", paramLabel = "DIR", description = "Copy the run's artifacts to this folder.")
    @Nullable Path out;

    /** Checks early what could fail at the end. */
    public void prepare() {
        if (out != null) {
            ArtifactFiles.prepare(out);
        }
    }

    /** Follows a run from its present state. Returns the exit code. */
    public int join(CliCommand command, ServerConnection server, Run run) throws IOException {
        if (!command.json && !Terminals.interactive()) {
            Runs runs = server.keelson().runs();
            command.print(Details.lines(run, RunDocuments.attempts(runs, run), runs.tasks(run.id()), List.of(),
                    Set.of(), RunTree.NONE, command.clock().instant(), command.style()));
        }
        return watch(command, server, run, false);
    }

    /** From its beginning on. Returns the exit code. */
    public int watch(CliCommand command, ServerConnection server, Run run) throws IOException {
        return watch(command, server, run, true);
    }

    private int watch(CliCommand command, ServerConnection server, Run run, boolean history)
            throws IOException {
        Clock clock = command.clock();
        if (!command.json && run.state().equals("created") && run.startAt() != null) {
            command.note("it starts at " + run.startAt());
        }
        boolean live = !command.json && Terminals.interactive();
        Display display = command.json ? Display.NONE
                : live ? LiveDisplay.onTerminal(command.out(), command.style())
                        : new PlainDisplay(command.out(), command::note);
        RunFollower follower = new RunFollower(server, run, display, clock, history, lack -> {
            display.close();
            command.note(lack);
        });
        server.whenInterrupted(() -> {
            display.end();
            command.note(interrupted(server, run.id()));
        });
        Instant deadline = timeoutSeconds == null ? null : clock.instant().plusSeconds(timeoutSeconds);
        while (true) {
            RunFollower.End end = follower.until(deadline);
            if (end != RunFollower.End.INTERRUPTED) {
                display.close();
            }
            switch (end) {
                case RUN_ENDED -> {
                    return ended(command, server, follower.run());
                }
                case WAITS_FOR_HUMAN -> {
                    if (!live || !decided(command, server, follower)) {
                        return waits(command, server, follower);
                    }
                }
                case TIMED_OUT -> {
                    return timedOut(command, server, run.id());
                }
                case INTERRUPTED -> Sleep.of(Duration.ofDays(1));
            }
        }
    }

    private int ended(CliCommand command, ServerConnection server, Run run) throws IOException {
        List<Artifact> artifacts = server.keelson().runs().artifacts(run.id());
        Map<Artifact, Path> copies =
                out == null ? Map.of() : ArtifactFiles.copy(server.keelson().runs(), artifacts, out);
        if (command.json) {
            command.print(RunDocuments.whole(server.keelson(), run.id(), false));
        } else {
            Runs runs = server.keelson().runs();
            command.print(Summary.lines(run, RunDocuments.failures(runs, run), RunDocuments.results(runs, run),
                    artifacts, copies, ProgramName.current(), command.style()));
        }
        return ExitCode.of(run);
    }

    /** Asks about everything that can be answered with yes or no; false when there is nothing, or no answer. */
    private static boolean decided(CliCommand command, ServerConnection server, RunFollower follower) {
        PendingDecisions pendingDecisions = follower.waits();
        List<Question> questions = Question.of(pendingDecisions, server.keelson(), command);
        return !questions.isEmpty()
                && questions.stream()
                        .allMatch(each -> each.ask(command, server.keelson(), pendingDecisions.run().id()));
    }

    private static int waits(CliCommand command, ServerConnection server, RunFollower follower) {
        PendingDecisions pendingDecisions = follower.waits();
        if (command.json) {
            Api api = server.keelson().api();
            ObjectNode document = RunDocuments.whole(server.keelson(), pendingDecisions.run().id(), false);
            document.putArray("waiting").addAll(Stream.of(
                    pendingDecisions.approvals().stream().map(step -> api.get("/steps/" + step.id())),
                    pendingDecisions.outputs().stream().map(task -> api.get("/tasks/" + task.id())),
                    pendingDecisions.tickets().stream().map(ticket -> api.get("/escalations/" + ticket.id())))
                    .flatMap(each -> each).toList());
            command.print(document);
        } else {
            if (!pendingDecisions.tickets().isEmpty()) {
                InboxQuery tickets = InboxQuery.all().kind("escalation").run(pendingDecisions.run().id());
                server.keelson().inbox().list(tickets).items()
                        .forEach(item -> command.print(Subject.item(item, command.style())));
            }
            command.print(Summary.waiting(pendingDecisions, ProgramName.current(), command.style()));
        }
        return ExitCode.WAITS_FOR_HUMAN;
    }

    private static int timedOut(CliCommand command, ServerConnection server, String id) {
        if (command.json) {
            command.print(RunDocuments.whole(server.keelson(), id, false));
        }
        command.note("timeout reached; " + followHint(server, id));
        return ExitCode.TIMED_OUT;
    }

    private static String interrupted(ServerConnection server, String id) {
        return System.lineSeparator() + "interrupted; " + followHint(server, id);
    }

    private static String followHint(ServerConnection server, String id) {
        return server.own()
                ? "the run is kept; continue it with `" + ProgramName.current() + " watch " + id
                        + "` or `"
                        + ProgramName.current() + " server`"
                : "the run continues; follow it with: " + ProgramName.current() + " watch " + id;
    }
}
