package io.keelson.cli;

import io.keelson.cli.view.Details;
import io.keelson.cli.view.Family;
import io.keelson.cli.view.Subject;
import io.keelson.cli.view.Summary;
import io.keelson.cli.view.Waits;
import io.keelson.client.Api;
import io.keelson.client.Artifact;
import io.keelson.client.InboxQuery;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import io.keelson.server.StartupException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** Following a run to its end, with everything that people are shown and asked on the way. */
final class Watching {

    @Option(names = "--timeout", paramLabel = "SECONDS",
            description = "Stop watching after so long with exit code 124; "
                    + "the run is kept.")
    @Nullable Integer timeoutSeconds;

    @Option(names = "--out", paramLabel = "DIR", description = "Copy the run's artifacts to this folder.")
    @Nullable Path out;

    /** What can fail at the end is tried at the beginning. */
    void prepare() {
        if (out != null) {
            ArtifactFiles.prepare(out);
        }
    }

    /** From what is so now on. Returns the exit code. */
    int join(CliCommand command, Link link, Run run) throws StartupException, IOException {
        if (!command.json && !Terminals.interactive()) {
            Runs runs = link.keelson().runs();
            command.print(
                    Details.lines(run, RunDocuments.attempts(runs, run), runs.tasks(run.id()), List.of(), Family.NONE,
                            command.clock().instant(), command.style()));
        }
        return watch(command, link, run, false);
    }

    /** From its beginning on. Returns the exit code. */
    int watch(CliCommand command, Link link, Run run) throws StartupException, IOException {
        return watch(command, link, run, true);
    }

    private int watch(CliCommand command, Link link, Run run, boolean history) throws StartupException, IOException {
        Clock clock = command.clock();
        if (!command.json && run.state().equals("created") && run.startAt() != null) {
            command.note("it starts at " + run.startAt());
        }
        boolean live = !command.json && Terminals.interactive();
        Display display = command.json ? Display.NONE
                : live ? LiveDisplay.onTerminal(command.out(), command.style()) : new PlainDisplay(command.out());
        Follow follow = new Follow(link, run, display, clock, history, lack -> {
            display.close();
            command.note(lack);
        });
        link.whenInterrupted(() -> {
            display.end();
            command.note(interrupted(link, run.id()));
        });
        Instant deadline = timeoutSeconds == null ? null : clock.instant().plusSeconds(timeoutSeconds);
        while (true) {
            Follow.End end = follow.until(deadline);
            if (end != Follow.End.INTERRUPTED) {
                display.close();
            }
            switch (end) {
                case RUN_ENDED -> {
                    return ended(command, link, follow.run());
                }
                case WAITS_FOR_HUMAN -> {
                    if (!live || !decided(command, link, follow)) {
                        return waits(command, link, follow);
                    }
                }
                case TIMED_OUT -> {
                    return timedOut(command, link, run.id());
                }
                case INTERRUPTED -> Pause.of(Duration.ofDays(1));
            }
        }
    }

    private int ended(CliCommand command, Link link, Run run) throws IOException {
        List<Artifact> artifacts = link.keelson().runs().artifacts(run.id());
        Map<Artifact, Path> copies = out == null ? Map.of() : ArtifactFiles.copy(link.keelson().runs(), artifacts, out);
        if (command.json) {
            command.print(RunDocuments.whole(link.keelson(), run.id(), false));
        } else {
            command.print(Summary.lines(run, RunDocuments.failures(link.keelson().runs(), run), artifacts, copies,
                    ProgramName.current(), command.style()));
        }
        return ExitCode.of(run);
    }

    /** Asks about everything that can be answered with yes or no; false when there is nothing, or no answer. */
    private static boolean decided(CliCommand command, Link link, Follow follow) {
        Waits waits = follow.waits();
        List<Question> questions = Question.of(waits, link.keelson(), command);
        return !questions.isEmpty()
                && questions.stream().allMatch(each -> each.asked(command, link.keelson(), waits.run().id()));
    }

    private static int waits(CliCommand command, Link link, Follow follow) {
        Waits waits = follow.waits();
        if (command.json) {
            Api api = link.keelson().api();
            ObjectNode document = RunDocuments.whole(link.keelson(), waits.run().id(), false);
            document.putArray("waiting").addAll(Stream.of(
                    waits.approvals().stream().map(step -> api.get("/steps/" + step.id())),
                    waits.outputs().stream().map(task -> api.get("/tasks/" + task.id())),
                    waits.tickets().stream().map(ticket -> api.get("/escalations/" + ticket.id())))
                    .flatMap(each -> each).toList());
            command.print(document);
        } else {
            if (!waits.tickets().isEmpty()) {
                InboxQuery tickets = InboxQuery.all().kind("escalation").run(waits.run().id());
                link.keelson().inbox().list(tickets).items()
                        .forEach(item -> command.print(Subject.item(item, command.style())));
            }
            command.print(Summary.waiting(waits, ProgramName.current(), command.style()));
        }
        return ExitCode.WAITS_FOR_HUMAN;
    }

    private static int timedOut(CliCommand command, Link link, String id) {
        if (command.json) {
            command.print(RunDocuments.whole(link.keelson(), id, false));
        }
        command.note("not ended in time; " + goesOn(link, id));
        return ExitCode.TIMED_OUT;
    }

    private static String interrupted(Link link, String id) {
        return System.lineSeparator() + "interrupted; " + goesOn(link, id);
    }

    private static String goesOn(Link link, String id) {
        return link.own()
                ? "the run is kept as it is: `" + ProgramName.current() + " watch " + id
                        + "` carries it on, and so does `"
                        + ProgramName.current() + " server`"
                : "the run goes on; follow it with: " + ProgramName.current() + " watch " + id;
    }
}
