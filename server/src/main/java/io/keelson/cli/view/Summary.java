package io.keelson.cli.view;

import io.keelson.client.Artifact;
import io.keelson.client.Run;
import io.keelson.client.Step;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** What is said of a run at its end, or where it waits. */
public final class Summary {

    private static final int LONGEST_OUTPUT = 20;

    private Summary() {}

    /**
     * @param copies where artifacts were copied to; empty when they were not
     * @param command how this program is called
     */
    public static List<String> lines(Run run, List<Artifact> artifacts, Map<Artifact, Path> copies, String command,
            Style style) {
        List<String> lines = new ArrayList<>();
        lines.add("");
        lines.add(headline(run, style));
        lines.add(style.dim("run " + run.id()));
        if (run.errorCode() != null) {
            lines.add(style.red(Cells.clean(run.errorCode() + ": " + run.errorMessage())));
        }
        lines.addAll(output(run.output(), command, run.id(), style));
        if (!artifacts.isEmpty()) {
            lines.add("");
            lines.addAll(artifacts(artifacts, copies, style));
            if (copies.isEmpty()) {
                lines.add(style.dim("copy them with: " + command + " show " + run.id() + " --out DIR"));
            }
        }
        if (run.state().equals("failed") && run.attemptNumber() < run.maxAttempts()) {
            lines.add(style.dim("try again with: " + command + " retry " + run.id() + " --watch"));
        }
        return lines;
    }

    private static String headline(Run run, Style style) {
        Long millis = run.durationMs();
        String time = millis == null ? "" : " in " + Amounts.duration(Duration.ofMillis(millis));
        String attempt = run.attemptNumber() > 1 ? ", attempt " + run.attemptNumber() : "";
        return style.bold(Cells.clean(run.name())) + " " + style.state(run.state()) + time + ": "
                + Amounts.count(run.tasksCompleted()) + " of " + Amounts.count(run.taskCount()) + " tasks completed"
                + (run.tasksFailed() > 0 ? ", " + run.tasksFailed() + " failed" : "") + attempt;
    }

    private static List<String> output(JsonNode output, String command, String id, Style style) {
        if (output.isNull() || output.isMissingNode()) {
            return List.of();
        }
        List<String> text = (output.isString() ? output.stringValue() : output.toPrettyString()).lines()
                .map(Summary::printable).toList();
        List<String> lines = new ArrayList<>(List.of(""));
        lines.addAll(text.subList(0, Math.min(LONGEST_OUTPUT, text.size())));
        if (text.size() > LONGEST_OUTPUT) {
            lines.add(style.dim("and " + (text.size() - LONGEST_OUTPUT) + " more lines: " + command + " show " + id
                    + " --json"));
        }
        return lines;
    }

    /** Indentation is kept. */
    private static String printable(String line) {
        String content = line.stripLeading();
        return " ".repeat(line.length() - content.length()) + Cells.clean(content);
    }

    public static List<String> artifacts(List<Artifact> artifacts, Map<Artifact, Path> copies, Style style) {
        Table table = new Table("ARTIFACT", "SIZE", copies.isEmpty() ? "TYPE" : "COPIED TO");
        for (Artifact artifact : artifacts) {
            Path copy = copies.get(artifact);
            table.row(Cells.clean(artifact.name()), Amounts.size(artifact.sizeBytes()),
                    copy == null ? Cells.clean(artifact.contentType()) : copy.toString());
        }
        return table.lines(0, style);
    }

    /** What a run waits for, and the commands that move it. */
    public static List<String> waiting(Run run, List<Step> approvals, String command, Style style) {
        List<String> lines = new ArrayList<>(List.of(""));
        lines.add(style.bold(Cells.clean(run.name())) + " " + style.yellow("waits for a human") + "  "
                + style.dim("run " + run.id()));
        String id = " " + run.id();
        boolean decision = run.state().equals("awaiting_approval") || !approvals.isEmpty();
        if (run.state().equals("awaiting_approval")) {
            lines.add("  its plan of " + run.taskCount() + " tasks is to be approved");
        }
        for (Step step : approvals) {
            lines.add("  " + question(step)
                    + (approvals.size() > 1 ? "  " + style.dim("--step " + step.id()) : ""));
        }
        if (decision) {
            String which = approvals.size() > 1 ? " --step STEP" : "";
            lines.add("approve with: " + command + " approve" + id + which + " --watch");
            lines.add("reject with:  " + command + " reject" + id + which);
        } else {
            lines.add("  it is " + run.state());
            lines.add("go on with: " + command + " resume" + id + " --watch");
        }
        return lines;
    }

    /** What an approval asks. */
    public static String question(Step approval) {
        return TreeView.question(approval);
    }
}
