package io.keelson.cli.view;

import io.keelson.api.inbox.Escalation;
import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Artifact;
import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.RunUndo;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.api.run.TaskBudget;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** The text on a run at its end, or where it waits. */
public final class Summary {

    private static final int LONGEST_OUTPUT = 20;

    /** The change that helps after an error that a retry repeats, by the error's code. */
    private static final Map<String, String> CHANGES = Map.of(
            "PATH_NOT_ALLOWED", "add the folder to KEELSON_ALLOWED_FOLDERS and restart the server",
            "EXPRESSION_FAILED", "correct the expression, or the data that it reads, and run the mission again",
            "OUTBOUND_ADDRESS_REFUSED", "set KEELSON_ALLOW_PRIVATE_ADDRESSES=true and restart the server, or name a"
                    + " public address in the mission and run it again",
            "MODEL_NOT_CONFIGURED",
            "add the model to the file of KEELSON_MODELS and restart the server, or name another"
                    + " in the mission and run it again");

    /** States of an undo after which the run may be tried again. */
    private static final Set<String> RETRIED_AFTER = Set.of("refused", "nothing");

    private Summary() {}

    /**
     * @param results tasks whose outputs are the result of a run without an output of its own
     * @param copies where artifacts were copied to; empty when they were not
     * @param command how this program is called
     */
    public static List<String> lines(Run run, FailureView failures, List<Task> results, List<Artifact> artifacts,
            Map<Artifact, Path> copies, String command, Style style) {
        List<String> lines = new ArrayList<>();
        lines.add("");
        lines.add(headline(run, style));
        lines.add(style.dim("run " + run.id()
                + (run.externalId() == null ? "" : ", external id " + TerminalText.clean(run.externalId()))));
        if (run.errorCode() != null && !failures.explain(run)) {
            ErrorText.block(run.errorCode() + ": " + run.errorMessage(), style.columns())
                    .forEach(line -> lines.add(style.red(line)));
        }
        lines.addAll(failures.lines(command, style));
        lines.addAll(run.output().isNull() ? results(results, reading(run, command), style)
                : output(run.output(), reading(run, command), style));
        if (!artifacts.isEmpty()) {
            lines.add("");
            lines.addAll(artifacts(artifacts, copies, style));
            if (copies.isEmpty() && artifacts.stream().anyMatch(each -> each.deletedAt() == null)) {
                lines.add(style.dim("copy them with: " + reading(run, command) + " --out DIR"));
            }
        }
        RunUndo undo = run.undo();
        String change = run.errorCode() == null ? null : CHANGES.get(run.errorCode());
        if (undo != null && !RETRIED_AFTER.contains(undo.state())) {
            String see = undo.state().equals("running") ? " watch " : " show ";
            lines.add(style.dim("undo of its completed work: " + Details.undo(undo)
                    + (undo.runId() == null ? "" : ", see it with: " + command + see + undo.runId())));
        } else if (change != null && run.state().equals("failed")) {
            lines.add(style.dim(change + "; until then a retry fails the same way"));
        } else if (run.state().equals("failed") && run.attemptNumber() < run.maxAttempts()) {
            lines.add(style.dim("try again with: " + command + " retry " + run.id() + " --watch"));
        }
        return lines;
    }

    private static String headline(Run run, Style style) {
        Long millis = run.durationMs();
        String time = millis == null ? "" : " in " + AmountText.duration(Duration.ofMillis(millis));
        String work = AmountText.took(run);
        if (millis != null && run.activeMs() != null && run.activeMs() > millis) {
            time = " in " + work; // its planning began before it
        } else if (!work.isEmpty() && !time.equals(" in " + work)) {
            time += " (at work for " + work + ")";
        }
        String attempt = run.attemptNumber() > 1 ? ", attempt " + run.attemptNumber() : "";
        return style.bold(TerminalText.clean(run.name())) + " " + style.state(run) + time + ": "
                + AmountText.count(run.tasksCompleted()) + " of " + AmountText.count(run.taskCount(), "task")
                + " completed"
                + (run.tasksFailed() > 0 ? ", " + run.tasksFailed() + " failed" : "") + attempt;
    }

    /** The command that reads the run: `watch` for an ended run, since it needs no server. */
    private static String reading(Run run, String command) {
        return command + (run.ended() ? " watch " : " show ") + run.id();
    }

    /** @param reading the command that reads the run */
    private static List<String> output(JsonNode output, String reading, Style style) {
        if (output.isNull() || output.isMissingNode()) {
            return List.of();
        }
        List<String> text = (output.isString() ? output.stringValue() : output.toPrettyString()).lines()
                .map(Summary::printable).toList();
        List<String> lines = new ArrayList<>(List.of(""));
        lines.addAll(text.subList(0, Math.min(LONGEST_OUTPUT, text.size())));
        if (text.size() > LONGEST_OUTPUT) {
            lines.add(style.dim(
                    "and " + AmountText.count(text.size() - LONGEST_OUTPUT, "more line") + ": " + reading + " --json"));
        }
        return lines;
    }

    /** Indentation is kept. */
    public static String printable(String line) {
        String content = line.stripLeading();
        return " ".repeat(line.length() - content.length()) + TerminalText.clean(content);
    }

    public static List<String> artifacts(List<Artifact> artifacts, Map<Artifact, Path> copies, Style style) {
        Table table = new Table("ARTIFACT", "SIZE", copies.isEmpty() ? "TYPE" : "COPIED TO");
        for (Artifact artifact : artifacts) {
            Path copy = copies.get(artifact);
            table.row(TerminalText.clean(artifact.name()), AmountText.size(artifact.sizeBytes()),
                    artifact.deletedAt() != null ? style.dim("no longer kept")
                            : copy == null ? TerminalText.clean(artifact.contentType()) : copy.toString());
        }
        return table.lines(style);
    }

    /** The waits of a run, and the commands that end them. */
    public static List<String> waiting(PendingDecisions pendingDecisions, String command, Style style) {
        Run run = pendingDecisions.run();
        List<String> lines = new ArrayList<>(List.of(""));
        lines.add(style.bold(TerminalText.clean(run.name())) + " " + style.yellow("waits for a person") + "  "
                + style.dim("run " + run.id()));
        if (pendingDecisions.plan()) {
            lines.add("  its plan of " + AmountText.count(Subject.size(run), "task") + " is to be approved");
            lines.addAll(Subject.plan(run, style));
        }
        if (pendingDecisions.result()) {
            lines.add("  its result waits for acceptance");
            lines.addAll(result(pendingDecisions, command, style));
        }
        resumeAll(pendingDecisions, command).ifPresent(lines::add);
        tickets(pendingDecisions.tickets(), command, lines);
        for (InboxItem question : pendingDecisions.questions()) {
            lines.add("  " + TerminalText.clean(question.question()));
            lines.addAll(Subject.item(question, style));
            lines.addAll(answer(question, command));
        }
        outputs(pendingDecisions, command, lines, style);
        approvals(pendingDecisions, lines, style);
        decide(pendingDecisions, command, lines);
        if (pendingDecisions.decisions() == 0 && pendingDecisions.tickets().isEmpty()
                && pendingDecisions.questions().isEmpty()) {
            lines.addAll(stopped(pendingDecisions, command));
        }
        return lines;
    }

    private static List<String> stopped(PendingDecisions pendingDecisions, String command) {
        Run run = pendingDecisions.run();
        String resume = "resume with: " + command + " resume " + run.id() + " --watch";
        if (!run.state().equals("budget_exceeded")) {
            return List.of("  it is " + run.state(), resume);
        }
        String why = "  "
                + TerminalText.clean(pendingDecisions.stopped().stream().map(Explanation.Reason::text).findFirst()
                        .orElse("its budget is used up"));
        List<TaskBudget> tasks = run.taskBudgets().stream().filter(TaskBudget::exceeded).toList();
        if (pendingDecisions.stopped().stream().noneMatch(reason -> reason.code().equals("BUDGET_EXCEEDED"))) {
            return List.of(why);
        }
        boolean limited = pendingDecisions.stopped().stream().anyMatch(reason -> reason.neededUsd() != null);
        return limited || !tasks.isEmpty()
                ? List.of(why, "raise it with: " + command + " budget " + run.id()
                        + AmountText.raise(tasks, pendingDecisions.stopped()) + " --watch   # this much or more")
                : List.of(why, "grant credits: " + command + " credits grant AMOUNT", resume);
    }

    private static void tickets(List<Escalation> tickets, String command, List<String> lines) {
        for (Escalation ticket : tickets) {
            lines.add("  " + TerminalText.clean(ticket.message()) + " (" + ticket.reason() + ")");
            lines.add(answer(ticket, command));
        }
    }

    /** The result of a run that waits for its acceptance. */
    public static List<String> result(PendingDecisions pendingDecisions, String command, Style style) {
        Run run = pendingDecisions.run();
        if (!run.output().isNull()) {
            return output(run.output(), reading(run, command), style);
        }
        return results(pendingDecisions.results(), reading(run, command), style);
    }

    private static List<String> results(List<Task> tasks, String reading, Style style) {
        return tasks.stream().filter(task -> !task.output().isNull())
                .flatMap(task -> Stream.concat(
                        Stream.of("", style.bold(TerminalText.clean(task.key())) + source(task, style)),
                        output(task.output(), reading, style).stream().skip(1)))
                .toList();
    }

    private static String source(Task task, Style style) {
        return task.resultFrom() == null ? ""
                : style.dim("  result of run " + task.resultFrom().runId() + ", at no cost");
    }

    /** The output of a task's attempt that waits for a decision. */
    public static List<String> toJudge(Task task, String command, Style style) {
        String summary = task.outputSummary();
        return summary == null ? List.of()
                : output(JsonNodeFactory.instance.stringNode(summary), command + " show " + task.runId(), style);
    }

    private static void outputs(PendingDecisions pendingDecisions, String command, List<String> lines, Style style) {
        for (Task task : pendingDecisions.outputs()) {
            lines.add("  the output of " + TerminalText.clean(task.key()) + " is to be approved"
                    + (task.errorMessage() == null ? "" : ": " + TerminalText.clean(task.errorMessage())));
            lines.addAll(toJudge(task, command, style));
            lines.add(decide(task, command));
        }
    }

    private static void approvals(PendingDecisions pendingDecisions, List<String> lines, Style style) {
        for (Step step : pendingDecisions.approvals()) {
            lines.add("  " + question(step)
                    + (pendingDecisions.decisions() > 1 ? "  " + style.dim("--step " + step.id()) : ""));
            Subject.data(step, style).forEach(line -> lines.add("  " + line));
        }
    }

    private static void decide(PendingDecisions pendingDecisions, String command, List<String> lines) {
        if (pendingDecisions.plan() || pendingDecisions.result() || !pendingDecisions.approvals().isEmpty()) {
            String which = " " + pendingDecisions.run().id() + (pendingDecisions.decisions() > 1 ? " --step STEP" : "");
            boolean approves = pendingDecisions.plan() || pendingDecisions.result()
                    || !pendingDecisions.approvals().stream().allMatch(Summary::asks);
            if (approves) {
                lines.add("approve with: " + command + " approve" + which + " --watch");
            }
            pendingDecisions.approvals().stream().filter(Summary::asks)
                    .forEach(step -> lines.add("answer with:  " + command + " approve ask_" + step.id()
                            + " --content ANSWER"));
            lines.add("reject with:  " + command + " reject" + which);
        }
        if (pendingDecisions.plan()) {
            String id = pendingDecisions.run().id();
            lines.add("change it:    " + command + " show " + id + " --json | jq .run.plan > plan.json, then "
                    + command + " approve " + id + " --plan plan.json --watch");
        }
    }

    /** The commands that answer the decisions a run waits for. */
    public static List<String> answers(PendingDecisions pendingDecisions, String command) {
        List<String> lines = new ArrayList<>();
        resumeAll(pendingDecisions, command).ifPresent(lines::add);
        pendingDecisions.tickets().forEach(ticket -> lines.add(answer(ticket, command)));
        pendingDecisions.questions().forEach(question -> lines.addAll(answer(question, command)));
        pendingDecisions.outputs().forEach(task -> lines.add(decide(task, command)));
        decide(pendingDecisions, command, lines);
        if (lines.isEmpty()) {
            stopped(pendingDecisions, command).stream().skip(1).forEach(lines::add);
        }
        return lines;
    }

    /** The command that answers several tickets about failures; empty for one ticket, and where one is about a plan. */
    private static Optional<String> resumeAll(PendingDecisions pendingDecisions, String command) {
        List<Escalation> tickets = pendingDecisions.tickets();
        return tickets.size() < 2 || !tickets.stream().allMatch(ticket -> ticket.kind().equals("failure"))
                ? Optional.empty()
                : Optional.of("answer all " + tickets.size() + " with: " + command + " resume "
                        + pendingDecisions.run().id() + " --watch");
    }

    private static String answer(Escalation ticket, String command) {
        return "answer with: " + command + " resolve " + ticket.id() + " " + answers(List.of(ticket)) + " --watch";
    }

    /** The answers to tickets, as a command takes them. */
    public static String answers(List<Escalation> tickets) {
        return tickets.stream().anyMatch(Escalation::undo) ? "resume|skip|done|fail|cancel" : "resume|skip|fail|cancel";
    }

    private static List<String> answer(InboxItem question, String command) {
        return List.of("answer with:  " + command + " approve " + question.id() + " --content JSON",
                "decline with: " + command + " reject " + question.id());
    }

    private static String decide(Task task, String command) {
        return "decide with: " + command + " task approve|reject " + task.id() + " --watch";
    }

    /** How the signals that its steps wait for are sent, each name once. */
    public static List<String> signals(Run run, List<Step> steps, String command) {
        return run.ended() ? List.of()
                : steps.stream().map(Summary::awaited).flatMap(Optional::stream).distinct()
                        .map(name -> send(name, run.id(), command)).toList();
    }

    /** The name of the signal that a step waits for; empty if absent. */
    static Optional<String> awaited(Step step) {
        return step.state().equals("waiting") && "signal.wait".equals(step.tool())
                ? Optional.ofNullable(step.input().path("name").asString(null)).map(TerminalText::clean)
                : Optional.empty();
    }

    /** The command that sends a run a signal. */
    public static String send(String signal, String runId, String command) {
        return "send it with: " + command + " signal " + runId + " " + signal + " --payload JSON --watch";
    }

    private static boolean asks(Step step) {
        return "agent.ask".equals(step.tool());
    }

    /** The question of an approval. */
    public static String question(Step approval) {
        return TreeView.question(approval);
    }
}
