package io.keelson.cli.view;

import io.keelson.api.run.Step;
import io.keelson.cli.view.TaskLine.StepLine;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A run as a tree of its tasks with a progress bar below, made to fit a terminal. */
public final class TreeView {

    private static final int WIDEST_KEY = 28;
    /** Children of a group that have ended well are listed up to so many; more are only counted. */
    private static final int FEW_CHILDREN = 8;
    private static final int TIME_WIDTH = 6;
    private static final int WIDEST_BAR = 40;
    private static final int NARROWEST_BAR = 5;
    private static final int LINES_AROUND = 2;
    private static final int FEWEST_ROWS = 3;

    private final RunModel model;
    private final Style style;
    private final Instant now;
    private final int tick;
    private final Map<String, List<TaskLine>> children = new HashMap<>();
    private final Map<String, Phase> phases = new HashMap<>();

    private TreeView(RunModel model, Style style, Instant now, int tick) {
        this.model = model;
        this.style = style;
        this.now = now;
        this.tick = tick;
        for (TaskLine task : model.tasks()) {
            phases.put(task.key, task.phase());
            String group = task.groupKey();
            if (group != null) {
                children.computeIfAbsent(group, key -> new ArrayList<>()).add(task);
            }
        }
    }

    /**
     * @param columns no line is wider
     * @param rows no more lines, but never fewer than a handful
     * @param tick moves the spinner
     */
    public static List<String> render(RunModel model, int columns, int rows, Instant now, int tick, Style style) {
        return new TreeView(model, style, now, tick).lines(columns, Math.max(FEWEST_ROWS, rows - LINES_AROUND));
    }

    private List<String> lines(int columns, int budget) {
        List<TaskLine> listed = model.tasks().stream().filter(this::worthALine).toList();
        Set<TaskLine> kept = kept(listed, budget);
        int keyWidth = Math.min(WIDEST_KEY, kept.stream().mapToInt(this::keyWidth).max().orElse(0));
        List<String> lines = new ArrayList<>();
        lines.add(TerminalText.fit(heading(), columns, style));
        for (TaskLine task : listed) {
            if (kept.contains(task)) {
                lines.add(TerminalText.fit(line(task, keyWidth), columns, style));
            }
        }
        if (kept.size() < listed.size()) {
            lines.add(TerminalText.fit(style.dim(rest(listed, kept)), columns, style));
        }
        lines.add(bar(columns));
        return lines;
    }

    private String heading() {
        return style.bold(TerminalText.clean(model.run().name())) + "  " + style.state(model.run()) + "  "
                + style.dim(model.run().id());
    }

    /** The progress of the run as one line. Only tasks that completed count as done. */
    private String bar(int columns) {
        Instant started = model.run().startedAt();
        Instant ended = model.run().completedAt();
        Duration elapsed = started == null ? Duration.ZERO
                : Duration.between(started, ended == null ? now : ended).minusMillis(model.run().endedMs());
        int done = model.count(Phase.DONE);
        int failed = model.count(Phase.FAILED);
        int dropped = model.count(Phase.DROPPED);
        int total = model.size();
        int percent = total == 0 ? 0 : (int) (100L * done / total);
        String numbers = "  " + AmountText.count(done) + "/" + AmountText.count(total, "task") + "  " + percent + "%  "
                + AmountText.duration(elapsed);
        String failures = failed == 0 ? "" : "  " + AmountText.count(failed) + " failed";
        String left = dropped == 0 ? "" : "  " + AmountText.count(dropped) + " not done";
        int bar = Math.min(WIDEST_BAR, columns - numbers.length() - failures.length() - left.length());
        String text = numbers + style.red(failures) + style.dim(left);
        if (bar < NARROWEST_BAR) {
            return TerminalText.fit(numbers.strip() + style.red(failures) + style.dim(left), columns, style);
        }
        int good = part(bar, done);
        int bad = part(bar, done + failed) - good;
        return style.green((style.unicode() ? "━" : "=").repeat(good))
                + style.red((style.unicode() ? "━" : "x").repeat(bad))
                + style.dim((style.unicode() ? "─" : "-").repeat(bar - good - bad)) + text;
    }

    private int part(int bar, int tasks) {
        int total = model.size();
        return total == 0 ? 0 : (int) ((long) bar * tasks / total);
    }

    /** A group's unfinished children; all of them while they are few and the group still runs. */
    private boolean worthALine(TaskLine task) {
        String group = task.groupKey();
        if (group == null || !phases.containsKey(group)) {
            return true;
        }
        Phase phase = phases.get(task.key);
        boolean quiet = phase == Phase.DONE || phase == Phase.DROPPED || phase == Phase.WAITING;
        boolean many = Objects.requireNonNullElse(children.get(group), List.of()).size() > FEW_CHILDREN;
        boolean over = Objects.requireNonNull(phases.get(group)).ended();
        return !quiet || !many && !over;
    }

    private Set<TaskLine> kept(List<TaskLine> listed, int budget) {
        if (listed.size() <= budget) {
            return Set.copyOf(listed);
        }
        return new HashSet<>(listed.stream()
                .sorted(Comparator.comparing(TaskLine::phase).thenComparing(TaskLine::troubled,
                        Comparator.reverseOrder()))
                .limit(budget - 1L).toList());
    }

    private String rest(List<TaskLine> listed, Set<TaskLine> kept) {
        Map<String, Integer> counts = new TreeMap<>();
        listed.stream().filter(task -> !kept.contains(task)).forEach(task -> counts.merge(task.state, 1, Integer::sum));
        StringBuilder text = new StringBuilder("  and ").append(AmountText.count(listed.size() - kept.size()))
                .append(" more:");
        counts.forEach((state, count) -> text.append(' ').append(AmountText.count(count)).append(' ').append(state)
                .append(','));
        return text.substring(0, text.length() - 1);
    }

    private int keyWidth(TaskLine task) {
        return TerminalText.width(task.key) + (task.groupKey() == null ? 0 : 2);
    }

    private String line(TaskLine task, int keyWidth) {
        String indent = task.groupKey() == null ? "" : "  ";
        String key = TerminalText.pad(TerminalText.fit(task.key, keyWidth - indent.length(), style),
                keyWidth - indent.length());
        String time = time(task);
        return " " + indent + style.symbol(phase(task), tick) + " " + key + "  " + TerminalText.pad(time, TIME_WIDTH)
                + "  "
                + detail(task);
    }

    private Phase phase(TaskLine task) {
        return Objects.requireNonNullElse(phases.get(task.key), Phase.WAITING);
    }

    private String time(TaskLine task) {
        if (task.startedAt == null || phase(task) == Phase.WAITING) {
            return "";
        }
        Instant end = task.endedAt == null ? now : task.endedAt;
        return style.dim(AmountText.duration(Duration.between(task.startedAt, end)));
    }

    private String detail(TaskLine task) {
        List<TaskLine> items = children.get(task.key);
        String counted = items == null ? ""
                : task.maxRounds != null ? rounds(items.getLast(), task.maxRounds)
                        : AmountText.count(items.stream().filter(item -> phase(item).ended()).count())
                                + "/" + AmountText.count(items.size()) + "  ";
        return switch (phase(task)) {
            case FAILED -> style.red(Objects.requireNonNullElse(task.error, "failed"));
            case HUMAN -> style.yellow(question(task));
            case ACTIVE -> counted + attempt(task) + title(task) + style.dim(step(task));
            case RETRY -> style.yellow("retries" + when(task) + " after "
                    + Objects.requireNonNullElse(lastError(task), "a failure"));
            case WAITING -> style.dim(task.state.equals("queued") ? "queued" : waitsFor(task));
            case DROPPED -> style.dim(task.state) + without(task);
            case DONE -> style.dim(counted + title(task)) + without(task);
        };
    }

    /** The number of the last round, from its key, and the maximum. */
    private static String rounds(TaskLine last, int most) {
        return "round " + last.key.substring(last.key.indexOf('[') + 1, last.key.indexOf(']')) + " of "
                + AmountText.count(most) + "  ";
    }

    private String without(TaskLine task) {
        String step = task.goneOnWithout();
        return step == null ? "" : style.yellow("  without " + step);
    }

    private static String attempt(TaskLine task) {
        return (task.attempt > 1 ? "attempt " + task.attempt + "  " : "")
                + (task.state.equals("verifying") ? "verifying  " : "");
    }

    private String when(TaskLine task) {
        Instant next = task.nextRunAt == null
                ? task.openSteps.values().stream().map(open -> open.nextRunAt).filter(Objects::nonNull).findFirst()
                        .orElse(null)
                : task.nextRunAt;
        return next == null || !next.isAfter(now) ? "" : " in " + AmountText.duration(Duration.between(now, next));
    }

    private static String title(TaskLine task) {
        return task.title.equals(task.key) ? "" : task.title;
    }

    private static String step(TaskLine task) {
        return task.openSteps.values().stream().map(open -> open.named).filter(Objects::nonNull)
                .reduce((first, second) -> second).map(step -> "  " + TerminalText.clean(step.name())).orElse("");
    }

    private static @Nullable String lastError(TaskLine task) {
        return task.openSteps.values().stream().map(open -> open.error).filter(Objects::nonNull).findFirst()
                .orElse(task.error);
    }

    private String waitsFor(TaskLine task) {
        List<String> open = task.dependsOn.stream().filter(key -> phases.containsKey(key))
                .filter(key -> !Objects.requireNonNull(phases.get(key)).ended()).map(TerminalText::clean).toList();
        return open.isEmpty() ? "" : "waits for " + String.join(", ", open);
    }

    private static String question(TaskLine task) {
        if (task.ticket != null) {
            return "ticket " + task.ticket + ": " + Objects.requireNonNullElse(task.error, "escalated");
        }
        if (task.state.equals("awaiting_human")) {
            return "its output waits for a person" + (task.error == null ? "" : ": " + task.error);
        }
        for (StepLine open : task.openSteps.values()) {
            if (open.state.equals("waiting_approval")) {
                return "waits for a person: " + question(open.named);
            }
        }
        return "waits for a person";
    }

    /** The question of an approval, as far as it is known. */
    public static String question(@Nullable Step approval) {
        String question = approval == null ? "" : TerminalText.clean(approval.input().path("question").asString(""));
        return question.isEmpty() ? approval == null ? "approval" : TerminalText.clean(approval.name()) : question;
    }
}
