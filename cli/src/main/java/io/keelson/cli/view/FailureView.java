package io.keelson.cli.view;

import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.client.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The parts of a run's current attempt that have failed, with their whole messages. */
public final class FailureView {

    private static final int MAX = 10;

    /**
     * One part.
     *
     * @param step name of a step that failed and that its task continued without; null when the task itself failed
     */
    public record Failure(String task, @Nullable String step, @Nullable String errorCode,
            @Nullable String errorMessage) {

        private String text() {
            String message = Objects.requireNonNullElse(errorMessage, "");
            return task + (step == null ? " failed" : " completed without its step " + step)
                    + (errorCode == null ? "" : ": " + errorCode) + (message.isEmpty() ? "" : ": " + message);
        }
    }

    private final Run run;
    private final List<Failure> all;

    /**
     * @param tasks all tasks of the run's current attempt
     * @param steps the steps of these tasks
     */
    public FailureView(Run run, List<Task> tasks, List<Step> steps) {
        this.run = run;
        Map<String, Task> byId = tasks.stream().filter(task -> !task.superseded())
                .collect(Collectors.toMap(Task::id, Function.identity(), (first, second) -> second));
        List<String> groups = byId.values().stream().filter(task -> failed(task) && task.groupId() != null)
                .map(Task::groupId).toList();
        this.all = Stream.concat(
                tasks.stream().filter(task -> byId.containsKey(task.id()) && failed(task))
                        .filter(task -> !groups.contains(task.id()))
                        .map(task -> new Failure(task.key(), null, task.errorCode(), task.errorMessage())),
                steps.stream().filter(step -> step.failureIgnored() && !RunModel.isCall(step))
                        .filter(step -> byId.containsKey(step.taskId()) && !failed(byId.get(step.taskId())))
                        .map(step -> new Failure(Objects.requireNonNull(byId.get(step.taskId())).key(), step.name(),
                                step.errorCode(), step.errorMessage())))
                .toList();
    }

    private static boolean failed(@Nullable Task task) {
        return task != null && task.state().equals("failed");
    }

    /** Whether the run's error is that of a part, whose lines contain its message. */
    public boolean explain(Run failed) {
        return all.stream().limit(MAX).anyMatch(each -> each.step == null
                && Objects.equals(each.errorCode, failed.errorCode())
                && Objects.requireNonNullElse(failed.errorMessage(), "").startsWith("task '" + each.task + "' failed"));
    }

    /** The message of each, wrapped to the terminal, and the commands to look closer and to do the failed parts again. */
    public List<String> lines(String command, Style style) {
        List<String> lines = new ArrayList<>();
        all.stream().limit(MAX).forEach(each -> ErrorText.block(each.text(), style.columns())
                .forEach(line -> lines.add(style.red(line))));
        if (all.size() > MAX) {
            lines.add(style.dim("and " + AmountText.count((long) all.size() - MAX, "more failure")));
        }
        if (run.ended() && !all.isEmpty()) {
            String key = all.getFirst().task();
            lines.add(style.dim("details: " + command + " show " + run.id() + " " + quoted(key)));
            if (run.completedWithFailures()) {
                all.stream().map(Failure::task).filter(task -> !task.startsWith(".")).findFirst()
                        .ifPresent(
                                task -> lines.add(style.dim("do what failed again in a new run: " + command + " fork "
                                        + run.id() + " --from " + task.replaceFirst("\\[.*", "") + " --watch")));
            }
        }
        return lines;
    }

    /** A list of {@code task}, {@code step}, {@code error_code} and {@code error_message}. */
    public JsonNode document() {
        return Json.document(all);
    }

    /** Brackets are patterns of a shell. */
    private static String quoted(String key) {
        return key.contains("[") ? "'" + key + "'" : key;
    }
}
