package io.keelson.cli.runs;

import io.keelson.api.run.LogLine;
import io.keelson.api.run.Step;
import io.keelson.api.run.StepAttempt;
import io.keelson.cli.common.OneRunCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.Sleep;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "logs", description = {"Prints log lines, text outputs and errors of the steps of a run.",
        "For process.run: its standard error and, once it has ended, its standard output.",
        "With --follow, the text of an agent's turn line by line while it arrives."},
        footer = {"  keelson logs latest --follow", "  keelson logs latest build",
                "  keelson logs latest --json | jq -r 'select(.stream == \"error\").text'"})
public final class LogsCommand extends OneRunCommand {

    private static final Duration POLL = Duration.ofSeconds(1);
    /** A line's number is its lease epoch times this, plus its place. */
    private static final long LINES_PER_LEASE = 1_000_000;
    private static final int RECENT_LINES = 100;

    @Parameters(index = "1", arity = "0..1", paramLabel = "TASK", description = "The key of one of its tasks.")
    @Nullable String task;

    @Option(names = "--follow", description = "Follow the run until it ends.")
    boolean follow;

    private volatile boolean nothingShown = true;

    /** How far a step has been printed: the number of its last line, and the epoch of its last result. */
    private static final class Printed {
        private long line;
        private int result;
        private boolean ended;
        /** The execution whose lines were printed last, with its last log lines. */
        private int epoch;

        private final Deque<String> recent = new ArrayDeque<>();
    }

    private final Map<String, Printed> steps = new ConcurrentHashMap<>();

    /** @param stream {@code text}, {@code log}, {@code output} or {@code error} */
    private record Text(int epoch, String stream, String text) {}

    @Override
    protected void run(Keelson keelson, String id) {
        String only = task == null ? null : RunDocuments.task(keelson, id, task).key();
        LiveTurns live = new LiveTurns(keelson, (step, epoch, line) -> print(step, new Text(epoch, "text", line)));
        boolean last = false;
        while (!last && !server().interrupted()) {
            last = !follow || keelson.runs().get(id).ended();
            for (Step step : keelson.runs().steps(id)) {
                if (step.startedAt() != null && (only == null || only.equals(step.taskKey()))) {
                    if (!last) {
                        live.follow(step);
                    }
                    print(keelson, step, printed(step), live);
                }
            }
            out().flush();
            if (!last && !server().interrupted()) {
                Sleep.of(POLL);
            }
        }
        if (last && nothingShown) {
            note((only == null ? "" : "task " + only + " of ") + "run " + id
                    + " has no log lines, text outputs or errors");
        }
    }

    private void print(Keelson keelson, Step step, Printed printed, LiveTurns live) {
        if (printed.ended) {
            return;
        }
        printed.ended = step.completedAt() != null;
        boolean shown = printed.ended && live.shown(step.id());
        List<Text> texts = new ArrayList<>();
        for (StepAttempt attempt : keelson.steps().attempts(step.id())) {
            boolean running = attempt.outcome().equals("running");
            boolean newer = attempt.outcome().equals("completed") && !printed.ended; // it ended after the step was read
            if (attempt.leaseEpoch() > printed.result && !running && !newer) {
                texts(attempt).stream().filter(text -> !shown || !text.stream.equals("output")).forEach(texts::add);
                printed.result = attempt.leaseEpoch();
            }
        }
        List<Text> lines = new ArrayList<>();
        for (LogLine line : keelson.steps().logs(step.id(), printed.line)) {
            lines.add(new Text((int) (line.seq() / LINES_PER_LEASE), "log", line.message()));
            printed.line = line.seq();
        }
        Stream.concat(lines.stream(), texts.stream()).sorted(Comparator.comparingInt(Text::epoch))
                .forEach(text -> print(step, text));
        out().flush();
    }

    private static List<Text> texts(StepAttempt attempt) {
        List<Text> texts = new ArrayList<>();
        String output = output(attempt.output());
        if (!output.isEmpty()) {
            texts.add(new Text(attempt.leaseEpoch(), "output", output));
        }
        if (attempt.errorCode() != null) {
            texts.add(new Text(attempt.leaseEpoch(), "error", attempt.errorCode() + ": " + attempt.errorMessage()));
        } else if (attempt.outcome().equals("lost")) {
            texts.add(new Text(attempt.leaseEpoch(), "error",
                    "the worker " + attempt.worker() + " was lost; the step is claimed again"));
        }
        return texts;
    }

    /** The text of an output; empty if it is not text. */
    private static String output(JsonNode output) {
        if (output.isString()) {
            return output.stringValue();
        }
        if (output.path("lines").isArray()) {
            return String.join("\n", output.get("lines").valueStream().map(line -> line.asString("")).toList());
        }
        return output.path("stdout").asString("");
    }

    private synchronized void print(Step step, Text text) {
        nothingShown = false;
        if (json) {
            out().println(Json.object().put("task", step.taskKey()).put("step", step.name())
                    .put("lease_epoch", text.epoch).put("stream", text.stream).put("text", text.text));
            return;
        }
        String name = task == null ? step.taskKey() + "/" + step.name() : step.name();
        String mark = style().dim(TerminalText.clean(name) + " |") + " ";
        Printed printed = printed(step);
        if (printed.epoch != text.epoch) {
            if (printed.epoch != 0) {
                out().println(mark + style().dim("-- executed again --"));
            }
            printed.epoch = text.epoch;
            printed.recent.clear();
        }
        List<String> lines = text.text.lines().map(LogsCommand::printable).toList();
        if (text.stream.equals("error")) {
            // A program's error ends with the last lines of its log, which are above.
            Stream.concat(lines.stream().limit(1),
                    lines.stream().skip(1).filter(line -> !printed.recent.contains(line)))
                    .forEach(line -> out().println(mark + style().red(line)));
            return;
        }
        for (String line : lines) {
            out().println(mark + line);
            printed.recent.addLast(line);
            if (printed.recent.size() > RECENT_LINES) {
                printed.recent.removeFirst();
            }
        }
    }

    private Printed printed(Step step) {
        return steps.computeIfAbsent(step.id(), each -> new Printed());
    }

    /** Indented as it was, without escape sequences. */
    private static String printable(String line) {
        return TerminalText.visible(line.replace("\t", "    "));
    }
}
