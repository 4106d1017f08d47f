package io.keelson.cli.view;

import io.keelson.api.run.Event;
import io.keelson.api.run.Step;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Events as one line each, for pipes and logs. */
public final class EventLines {

    /** Beyond this number of tasks, only exceptional events get a line. */
    private static final int MANY_TASKS = 200;
    /** The message of a run whose task has failed; the line of the task has the reason. */
    private static final Pattern OF_TASK = Pattern.compile("(task '[^']*' failed): .*");

    private EventLines() {}

    /** The line of an event that the model has just taken in; null when it deserves none. */
    public static @Nullable String line(Event event, RunModel model, Style style) {
        String text = text(event, model, style);
        return text == null ? null : stamp(event.createdAt()) + text;
    }

    /** How far the run is, for runs with too many tasks to tell of each. */
    public static @Nullable String progress(RunModel model) {
        return model.size() <= MANY_TASKS ? null
                : AmountText.count(model.ended()) + " of "
                        + AmountText.count(model.size()) + " tasks ended, "
                        + AmountText.count(model.count(Phase.ACTIVE))
                        + " at work, " + AmountText.count(model.count(Phase.FAILED)) + " failed";
    }

    /** With its time before it. */
    public static String stamped(String line, Instant at) {
        return stamp(at) + line;
    }

    private static String stamp(@Nullable Instant at) {
        return at == null ? "" : at.truncatedTo(ChronoUnit.SECONDS) + " ";
    }

    private static @Nullable String text(Event event, RunModel model, Style style) {
        String to = event.payload().path("to").asString(null);
        if (to == null) {
            return note(event, model, style);
        }
        if (event.eventType().startsWith("run_")) {
            boolean end = to.equals("completed") || to.equals("skipped");
            boolean failures = end && event.payload().path("failures").asInt(0) > 0;
            return "run " + (failures ? style.withFailures() : style.state(to))
                    + (model.count(Phase.FAILED) > 0 ? OF_TASK.matcher(reason(event)).replaceFirst("$1")
                            : reason(event));
        }
        TaskLine task = model.task(event.taskId());
        if (task == null) {
            return null;
        }
        String name = task.known() ? task.key + task.label : task.id;
        return event.stepId() == null ? task(event, task, to, name, model, style) : step(event, to, name, model, style);
    }

    /** The text of an event that changes no state but is shown; null for others. */
    private static @Nullable String note(Event event, RunModel model, Style style) {
        String about =
                TerminalText
                        .clean(event.payload().path("message").asString(event.payload().path("reason").asString("")));
        return switch (event.eventType()) {
            case "escalation_opened" -> style.yellow("ticket " + event.payload().path("ticket_id").asString("")) + ": "
                    + about;
            case "escalation_resolved" -> "ticket " + event.payload().path("ticket_id").asString("") + " answered: "
                    + event.payload().path("resolution").asString("");
            case "run_replanning" -> "run is replanning: " + about;
            case "run_replanned" -> "run has plan version " + event.payload().path("plan_version").asString("");
            case "run_undo_requested" -> "run is to be undone";
            case "run_undo_started" -> "run is being undone by run " + event.payload().path("undo_run_id").asString("");
            case "run_undo_refused" -> "run cannot be undone: " + TerminalText.clean(
                    event.payload().path("error_message").asString(""));
            case "run_undo_ended" -> "undo of the run has ended: " + event.payload().path("state").asString("");
            case "step_result_reused" -> source(event, model, " takes over the result of run ", ", at no cost");
            case "step_result_awaited" -> source(event, model, " waits for the same result of run ", "");
            case "run_acceptance_requested" -> "run waits for its result to be accepted";
            default -> null;
        };
    }

    /** The other run of an event about a result; null in a large run. */
    private static @Nullable String source(Event event, RunModel model, String verb, String cost) {
        TaskLine task = model.task(event.taskId());
        return task == null || !task.known() || model.size() > MANY_TASKS ? null
                : task.key + task.label + verb + event.payload().path("source_run_id").asString("") + cost;
    }

    private static @Nullable String task(Event event, TaskLine task, String to, String name, RunModel model,
            Style style) {
        Phase phase = Phase.of(to);
        // an unknown task is one of an earlier round, which has no row any more
        boolean ordinary = phase == Phase.DONE || phase == Phase.ACTIVE || phase == Phase.DROPPED;
        if (ordinary && (!task.known() || model.size() > MANY_TASKS)) {
            return null;
        }
        return switch (phase) {
            case DONE -> name + " " + style.state(to) + took(task);
            case FAILED -> name + " " + style.state(to) + (task.error == null ? "" : ": " + task.error);
            case DROPPED -> name + " " + style.state(to) + (task.error == null ? "" : ": " + task.error);
            case ACTIVE -> to.equals("running") || to.equals("verifying")
                    ? name + " " + style.state(to) + (task.attempt > 1 ? ", attempt " + task.attempt : "")
                    : null;
            case HUMAN -> name + " waits for a person" + (task.error == null ? "" : ": " + task.error);
            case RETRY -> name + retry(event);
            case WAITING -> null;
        };
    }

    private static @Nullable String step(Event event, String to, String name, RunModel model, Style style) {
        if (to.equals("waiting_approval")) {
            return name + " " + style.state(to) + ": " + TreeView.question(model.step(event.stepId()));
        }
        Step listed = model.step(event.stepId());
        if (to.equals("waiting") && listed != null) {
            return Summary.awaited(listed).map(signal -> name + " waits for the signal '" + signal + "'").orElse(null);
        }
        if (to.equals("failed") && event.payload().path("failure_ignored").asBoolean(false)) {
            return RunModel.isCall(listed) ? null
                    : name + " continues without " + (listed == null ? "a step" : TerminalText.clean(listed.name()))
                            + reason(event);
        }
        if (to.equals("awaiting_retry")) {
            return name + retry(event);
        }
        return null;
    }

    /** The text of a failure: it is retried, or waits for the answer to a ticket if the failure policy does not allow that. */
    private static String retry(Event event) {
        Instant next = RunModel.nextRun(event);
        boolean refused = next == null && event.payload().has("remaining_attempts");
        return (refused ? " waits for the answer to a ticket" : " retries" + at(next))
                + after(RunModel.error(event));
    }

    private static String at(@Nullable Instant time) {
        return time == null ? "" : " at " + time.truncatedTo(ChronoUnit.SECONDS);
    }

    private static String after(@Nullable String error) {
        return error == null ? "" : " after " + error;
    }

    private static String took(TaskLine task) {
        return task.startedAt == null || task.endedAt == null ? ""
                : " (" + AmountText.duration(Duration.between(task.startedAt, task.endedAt)) + ")";
    }

    private static String reason(Event event) {
        String code = event.payload().path("error_code").asString("");
        return code.isEmpty() ? ""
                : ": " + ErrorText.line(code, event.payload().path("error_message").asString(""));
    }
}
