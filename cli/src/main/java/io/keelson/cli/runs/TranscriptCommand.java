package io.keelson.cli.runs;

import io.keelson.api.money.TokenUsage;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.api.run.TranscriptEntry;
import io.keelson.api.run.TurnProblem;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.OneRunCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.ErrorText;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "transcript",
        description = "Shows the turns of an agent's task with their calls, results, tokens, cost and times, and the requests"
                + " of programs to models.",
        footer = {"  keelson transcript latest", "  keelson transcript latest research",
                "  keelson transcript latest research --attempt all",
                "  keelson transcript latest research --json | jq '[.items[].cost] | add'"})
public final class TranscriptCommand extends OneRunCommand {

    private static final int SHOWN = 400;
    private static final String ALL = "all";

    @Parameters(index = "1", arity = "0..1", paramLabel = "TASK",
            description = "The key of a task. Without it, the run's only task with turns, or else its only task with steps.")
    @Nullable String task;

    @Option(names = "--attempt", paramLabel = "N|all",
            description = "The attempt of the task, by its number, or all of them; the last one by default.")
    @Nullable String attempt;

    /** The number of executions by step. */
    private Map<String, Integer> executions = Map.of();
    /** Names of steps by their ids. */
    private Map<String, String> names = Map.of();

    @Override
    protected void run(Keelson keelson, String id) {
        Task found = RunDocuments.task(keelson, id, task == null ? only(keelson, id) : task);
        String query = query(found);
        print(() -> Json.object().set("items",
                RunDocuments.all(keelson, "/tasks/" + found.id() + "/transcript" + query)),
                () -> {
                    List<Step> steps = keelson.runs().steps(id);
                    executions = steps.stream().collect(Collectors.toMap(Step::id, Step::leaseEpoch));
                    names = steps.stream().collect(Collectors.toMap(Step::id, Step::name));
                    return text(found, entries(keelson, found));
                });
    }

    private List<TranscriptEntry> entries(Keelson keelson, Task found) {
        if (attempt == null) {
            return keelson.tasks().transcript(found.id());
        }
        return attempt.equals(ALL) ? keelson.tasks().wholeTranscript(found.id())
                : keelson.tasks().transcript(found.id(), Integer.parseInt(attempt));
    }

    /** The query of the attempt that is asked for. */
    private String query(Task found) {
        if (attempt == null || attempt.equals(ALL)) {
            return attempt == null ? "" : "?history=true";
        }
        if (!attempt.matches("[1-9][0-9]{0,5}")) {
            throw CliException.usage("INVALID_ATTEMPT", "--attempt is the number of an attempt, or all");
        }
        if (Integer.parseInt(attempt) > found.attemptNumber()) {
            throw CliException.failed("ATTEMPT_NOT_FOUND",
                    "the task has had " + AmountText.count(found.attemptNumber(), "attempt"));
        }
        return "?attempt=" + attempt;
    }

    /** A headline for each attempt where there are several; the last line names the attempts that are not shown. */
    private List<String> text(Task found, List<TranscriptEntry> entries) {
        List<String> lines = new ArrayList<>();
        Integer before = null;
        for (TranscriptEntry entry : entries) {
            if (found.attemptNumber() > 1 && entry.taskAttempt() != null && !entry.taskAttempt().equals(before)) {
                before = entry.taskAttempt();
                lines.add(style().bold("attempt " + before + " of " + found.attemptNumber()));
            }
            lines.addAll(lines(entry));
        }
        if (found.attemptNumber() > 1 && attempt == null) {
            lines.add(style().dim("--attempt all shows the attempts before"));
        }
        return lines;
    }

    private static String only(Keelson keelson, String run) {
        List<Step> steps = keelson.runs().steps(run);
        List<@Nullable String> tasks = tasks(steps, "turn");
        tasks = tasks.isEmpty() ? tasks(steps, "tool") : tasks;
        String found = tasks.size() == 1 ? tasks.getFirst() : null;
        if (found == null) {
            throw CliException.failed("TASK_NOT_FOUND", tasks.isEmpty() ? "no task of run " + run + " has turns"
                    : "several tasks of run " + run + " have turns; name one of " + tasks);
        }
        return found;
    }

    private static List<@Nullable String> tasks(List<Step> steps, String kind) {
        return steps.stream().filter(step -> step.kind().equals(kind)).<@Nullable String>map(Step::taskKey).distinct()
                .toList();
    }

    private List<String> lines(TranscriptEntry entry) {
        List<String> lines = new ArrayList<>();
        boolean turn = entry.kind().equals("turn");
        boolean request = entry.kind().equals("request");
        String model = "  " + (TerminalText.clean(entry.model()) + "  ") + figures(entry);
        lines.add(turn ? style().bold("turn " + entry.turn()) + style().dim(model)
                : request ? "  " + style().bold("request") + style().dim(model + execution(entry))
                        : "  " + TerminalText.clean(String.valueOf(entry.tool())) + " "
                                + shown(entry, "input", entry.input())
                                + style().dim("  " + figures(entry) + caller(entry)));
        String indent = turn ? "  " : "    ";
        if (entry.text() != null) {
            entry.text().lines().map(line -> indent + TerminalText.visible(line)).forEach(lines::add);
        }
        for (ObjectNode call : request ? Objects.requireNonNull(entry.calls()) : List.<ObjectNode>of()) {
            lines.add(indent + TerminalText.clean(call.path("name").asString("")) + " "
                    + shown(entry, "", call.path("input")));
        }
        if (entry.differs() != null) {
            lines.add(indent + "not recorded: " + TerminalText.clean(difference(entry.differs())));
        }
        TurnProblem again = entry.again();
        if (again != null) {
            lines.add(indent + style().red(TerminalText.clean(again.code() + ": " + again.message())));
        }
        if (entry.errorCode() != null) {
            ErrorText.block(entry.errorCode() + ": " + entry.errorMessage(), 0)
                    .forEach(line -> lines.add(indent + style().red(line)));
        } else if (!entry.output().isNull() || entry.omitted().contains("output")) {
            shown(entry, "output", entry.output()).lines().map(line -> indent + line).forEach(lines::add);
        }
        return lines;
    }

    private String caller(TranscriptEntry entry) {
        String caller = entry.calledBy();
        return caller == null ? "" : ", called by " + TerminalText.clean(names.getOrDefault(caller, caller));
    }

    private String execution(TranscriptEntry entry) {
        Integer epoch = entry.leaseEpoch();
        return epoch == null ? "" : execution(epoch, executions.getOrDefault(entry.stepId(), epoch));
    }

    /** The execution of the step that has bought the answer, which later ones get from the record. */
    static String execution(int epoch, int executions) {
        return executions <= 1 ? ""
                : ", execution " + epoch + " of " + executions
                        + (epoch < executions ? ", later ones are answered from the record" : "");
    }

    private static String difference(JsonNode differs) {
        return "message " + differs.path("message") + " (" + differs.path("role").asString("") + ") has '"
                + differs.path("sent").asString("") + "' instead of '" + differs.path("recorded").asString("") + "'";
    }

    private static String shown(TranscriptEntry entry, String member, JsonNode value) {
        if (entry.omitted().contains(member)) {
            return "(long: step " + entry.stepId() + " has it)";
        }
        String text = value.isString() ? value.stringValue() : value.toString();
        return TerminalText.visible(text.length() <= SHOWN ? text
                : text.substring(0, SHOWN) + "… (" + text.length() + " characters)");
    }

    private static String figures(TranscriptEntry entry) {
        List<String> figures = new ArrayList<>();
        if (!entry.state().equals("completed")) {
            figures.add(entry.state());
        }
        TokenUsage usage = entry.usage();
        if (usage != null) {
            figures.add(AmountText.count(usage.input() + usage.cacheWrite()) + " in");
            if (usage.cacheRead() > 0) {
                figures.add(AmountText.count(usage.cacheRead()) + " cached");
            }
            figures.add(AmountText.count(usage.output()) + " out");
        }
        if (entry.cost() != null && entry.cost().signum() > 0) {
            figures.add(AmountText.decimal(entry.cost()) + " credits");
        }
        Instant from = entry.startedAt();
        Instant to = entry.completedAt();
        if (from != null && to != null) {
            figures.add(AmountText.duration(Duration.between(from, to)));
        }
        return String.join(", ", figures);
    }
}
