package io.keelson.cli.common;

import io.keelson.api.run.Event;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.Page;
import io.keelson.server.base.json.IdTime;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The earlier decision that makes this one late: person, time and reason. */
public final class Decided {

    private static final Set<String> TOO_LATE = Set.of("APPROVAL_ALREADY_DECIDED", "GATE_CHANGED",
            "INVALID_STATE_TRANSITION", "PROPOSAL_NOT_PENDING", "RUN_FINISHING", "TICKET_NOT_OPEN");
    private static final Map<String, String> DECISIONS = Map.ofEntries(Map.entry("run_approved", "approved the plan"),
            Map.entry("run_rejected", "rejected the plan"), Map.entry("run_accepted", "accepted the result"),
            Map.entry("run_budget_approved", "resumed the run"),
            Map.entry("run_budget_increased", "raised the run's limit"),
            Map.entry("run_failed", "ended the run as failed"),
            Map.entry("run_cancelled", "cancelled the run"), Map.entry("task_human_approved", "approved the output"),
            Map.entry("task_human_rejected", "rejected the output"), Map.entry("step_approved", "approved it"),
            Map.entry("step_rejected", "rejected it"), Map.entry("escalation_resolved", "answered the ticket"),
            Map.entry("proposal_accepted", "accepted the proposal"),
            Map.entry("proposal_rejected", "rejected the proposal"));
    /** The kinds of questions that a run may repeat, with the events that end such a question. */
    private static final Map<String, Set<String>> CLOSES = Map.of(
            "plan", Set.of("run_approved", "run_failed", "run_cancelled"),
            "result", Set.of("run_accepted", "run_replanning", "run_failed", "run_cancelled"),
            "budget", Set.of("run_resumed", "run_failed", "run_cancelled"));
    private static final int AT_A_TIME = 500;
    private static final int CONFLICT = 409;

    private Decided() {}

    /** Decides. A decision that is too late fails with the earlier one in its message, which the function reads. */
    public static <T> T inTime(Supplier<T> decision, Function<KeelsonException, RuntimeException> late) {
        try {
            return decision.get();
        } catch (KeelsonException e) {
            throw e.status() == CONFLICT ? late.apply(e) : e;
        }
    }

    /**
     * The error for a decision that came too late, with the earlier decision.
     *
     * @param part the step, task, ticket or proposal that the decision was about; null for any pending decision of the
     *            run
     */
    public static RuntimeException before(Keelson keelson, KeelsonException refusal, String run,
            @Nullable String part) {
        if (!TOO_LATE.contains(refusal.code())) {
            return refusal;
        }
        List<Event> decisions = events(keelson, run).stream().filter(Decided::isDecision).toList();
        return before(refusal, decisions.stream().filter(event -> part == null || isAbout(event, part))
                .reduce((first, second) -> second).orElse(decisions.isEmpty() ? null : decisions.getLast()));
    }

    /** Whether a run may ask a question of that kind more than once, so that the ids of its items end with a time. */
    public static boolean repeats(String kind) {
        return CLOSES.containsKey(kind);
    }

    /**
     * The error for an answered question of a kind that a run may ask more than once, with the earlier answer.
     *
     * @param kind with which the id of the inbox item begins
     * @param question the rest of that id: the run's id, and the time at which the question was asked
     */
    public static RuntimeException beforeQuestion(Keelson keelson, KeelsonException refusal, String kind,
            String question) {
        int end = question.indexOf('_');
        if (end < 0 || !TOO_LATE.contains(refusal.code())) {
            return refusal;
        }
        Instant asked = IdTime.of(question.substring(end + 1));
        Set<String> closes = Objects.requireNonNull(CLOSES.get(kind));
        List<Event> since = events(keelson, question.substring(0, end)).stream()
                .filter(event -> event.createdAt() != null && event.createdAt().isAfter(asked)).toList();
        Instant closed = since.stream().filter(event -> closes.contains(event.eventType())).map(Event::createdAt)
                .filter(Objects::nonNull).findFirst().orElse(Instant.MAX);
        return before(refusal, since.stream().filter(Decided::isDecision)
                .filter(event -> event.createdAt() != null && !event.createdAt().isAfter(closed))
                .reduce((first, second) -> second).orElse(null));
    }

    private static RuntimeException before(KeelsonException refusal, @Nullable Event last) {
        if (last == null) {
            return refusal;
        }
        String message = Objects.requireNonNullElse(refusal.getMessage(), "");
        String prefix = refusal.code() + ": ";
        return CliException.failed(refusal.code(),
                (message.startsWith(prefix) ? message.substring(prefix.length()) : message) + "; " + described(last),
                refusal);
    }

    /** All events of the run, oldest first. */
    private static List<Event> events(Keelson keelson, String run) {
        List<Event> events = new ArrayList<>();
        Page<Event> page;
        long after = 0;
        do {
            page = keelson.runs().events(run, after, AT_A_TIME);
            events.addAll(page.items());
            after = page.items().isEmpty() ? after : page.items().getLast().seq();
        } while (page.nextCursor() != null);
        return events;
    }

    private static boolean isDecision(Event event) {
        return "human".equals(event.actorType()) && DECISIONS.containsKey(event.eventType());
    }

    private static boolean isAbout(Event event, String part) {
        return part.equals(event.stepId()) || part.equals(event.taskId())
                || Stream.of("ticket_id", "proposal_id")
                        .anyMatch(name -> part.equals(event.payload().path(name).asString("")));
    }

    private static @Nullable String decision(Event event) {
        JsonNode said = event.payload();
        return switch (event.eventType()) {
            case "run_budget_approved" -> switch (said.path("way").asString("")) {
                case "finish_current" -> "had the run end with what ran then";
                case "downgrade" -> "gave all further turns to the model " + said.path("model").asString("");
                case "raise" -> said.path("hard_limit").isNull() || said.path("hard_limit").isMissingNode()
                        ? "raised budgets of tasks"
                        : "raised the run's limit to " + amount(said.path("hard_limit"));
                default -> "resumed the run with its limits as they were";
            };
            case "run_budget_increased" -> said.path("old_limit").equals(said.path("new_limit")) ? "resumed the run"
                    : "raised the run's limit to " + amount(said.path("new_limit"));
            default -> DECISIONS.get(event.eventType());
        };
    }

    private static String amount(JsonNode text) {
        return AmountText.decimal(new BigDecimal(text.stringValue()));
    }

    private static String described(Event event) {
        String answer = event.payload().path("resolution").asString("");
        String reason = event.eventType().equals("run_failed") ? "" : event.payload().path("reason").asString("");
        return TerminalText.clean(event.actorId() + " " + decision(event)
                + (answer.isEmpty() ? "" : " with " + answer)
                + (event.createdAt() == null ? "" : " at " + event.createdAt().truncatedTo(ChronoUnit.SECONDS))
                + (reason.isEmpty() ? "" : ": " + reason));
    }
}
