package io.keelson.server.outlet.webhook;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Topics of deliveries; an event without a topic has its own type. */
public final class Topics {

    public static final String ALL = "*";
    static final String PING = "webhook.ping";

    private static final String COMPLETED = "run.completed";
    /** A run that completed with failures; subscribers of {@link #COMPLETED} receive it, too. */
    private static final String WITH_FAILURES = "run.completed_with_failures";
    private static final Set<String> GOOD_ENDS = Set.of("run_completed", "run_skipped");

    private static final Map<String, String> OF_EVENTS = Map.of(
            "run_completed", COMPLETED,
            "run_failed", "run.failed",
            "run_cancelled", "run.cancelled",
            "run_budget_warning", "run.budget_warning",
            "escalation_opened", "escalation.opened",
            "run_plan_ready", "approval.needed",
            "run_acceptance_requested", "approval.needed",
            "step_approval_requested", "approval.needed", "approval_voted", "approval.needed",
            "task_human_review_requested", "approval.needed");

    /** The switches of a run's configuration ({@code config.notifications}). */
    private static final Map<String, String> SWITCHES = Map.of(COMPLETED, "on_completion", "run.failed",
            "on_failure", "run.budget_warning", "on_budget_warning");

    private static final List<String> NAMES =
            Stream.concat(OF_EVENTS.values().stream(), Stream.of(WITH_FAILURES)).distinct()
                    .sorted(Comparator.naturalOrder()).toList();

    private Topics() {}

    /** All topics. */
    public static List<String> names() {
        return NAMES;
    }

    /** Topics that endpoints receive by default. People also learn of runs that their budgets stop, as these wait for an answer. */
    static List<String> names(EndpointFormat format) {
        return format.forPeople() ? Stream.concat(NAMES.stream(), Stream.of("run_budget_exceeded")).toList() : NAMES;
    }

    /**
     * An event's topic. A plan without an approval is ready at once, so it counts as ready, not as an approval request.
     */
    static String of(JsonNode event) {
        String type = event.path("event_type").asString("");
        if (GOOD_ENDS.contains(type) && event.path("payload").path("failures").asInt(0) > 0) {
            return WITH_FAILURES;
        }
        return type.equals("run_plan_ready")
                && !event.path("payload").path("to").asString("").equals("awaiting_approval")
                        ? type
                        : OF_EVENTS.getOrDefault(type, type);
    }

    /** The event types that can match the given subscriptions; null for all. */
    static @Nullable Set<String> eventTypes(Collection<String> wanted) {
        if (wanted.contains(ALL)) {
            return null;
        }
        Set<String> types = new HashSet<>(wanted);
        if (wanted.contains(COMPLETED) || wanted.contains(WITH_FAILURES)) {
            types.addAll(GOOD_ENDS);
        }
        OF_EVENTS.forEach((type, topic) -> {
            if (wanted.contains(topic)) {
                types.add(type);
            }
        });
        return types;
    }

    /**
     * Whether an endpoint receives an event.
     *
     * @param wanted names of topics or of types of events, or {@link #ALL}
     * @param channel the endpoint's; null to receive all runs
     * @param event with {@code notifications} of its run's configuration; missing or null where that has none
     */
    static boolean matches(Collection<String> wanted, @Nullable String channel, JsonNode event) {
        String topic = of(event);
        String eventType = event.path("event_type").asString("");
        JsonNode notifications = event.path("notifications");
        boolean asked = wanted.contains(ALL) || wanted.contains(topic) || wanted.contains(eventType)
                || topic.equals(WITH_FAILURES) && wanted.contains(COMPLETED);
        return asked && wished(topic, notifications)
                && (channel == null || channel.equals(notifications.path("channel").asString("")));
    }

    /** A completion with failures is sent if either topic is switched on. */
    private static boolean wished(String topic, JsonNode notifications) {
        if (topic.equals(WITH_FAILURES)) {
            return wished(COMPLETED, notifications) || wished("run.failed", notifications);
        }
        String wish = SWITCHES.get(topic);
        return wish == null || notifications.path(wish).asBoolean(true);
    }
}
