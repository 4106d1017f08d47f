package io.keelson.server.webhook;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What receivers are told of, by names of their own; any other event has its own type. */
public final class Topics {

    public static final String ALL = "*";
    static final String PING = "webhook.ping";

    private static final String COMPLETED = "run.completed";
    /** A run that came to its end although parts of it failed; who asks for {@link #COMPLETED} is told, too. */
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
            "step_approval_requested", "approval.needed",
            "task_human_review_requested", "approval.needed");

    /** What runs may ask for or not ({@code config.notifications}). */
    private static final Map<String, String> SWITCHES = Map.of(COMPLETED, "on_completion", "run.failed",
            "on_failure", "run.budget_warning", "on_budget_warning");

    private static final List<String> NAMES =
            Stream.concat(OF_EVENTS.values().stream(), Stream.of(WITH_FAILURES)).distinct()
                    .sorted(Comparator.naturalOrder()).toList();

    private Topics() {}

    /** The named ones: what endpoints are told of unless they say otherwise. */
    public static List<String> names() {
        return NAMES;
    }

    /** What an event is called in deliveries. A plan that nobody is to decide on is ready, too, and no approval is needed. */
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

    /** The types of events that somebody with these wishes may be told of; null for all. */
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
     * Whether an endpoint is told.
     *
     * @param wanted names of topics or of types of events, or {@link #ALL}
     * @param channel the endpoint's; null for one that is told of all runs
     * @param event with {@code notifications} of its run's configuration; missing or null where that says nothing
     */
    static boolean told(Set<String> wanted, @Nullable String channel, JsonNode event) {
        String topic = of(event);
        String eventType = event.path("event_type").asString("");
        JsonNode notifications = event.path("notifications");
        boolean asked = wanted.contains(ALL) || wanted.contains(topic) || wanted.contains(eventType)
                || topic.equals(WITH_FAILURES) && wanted.contains(COMPLETED);
        return asked && wished(topic, notifications)
                && (channel == null || channel.equals(notifications.path("channel").asString("")));
    }

    /** What completed with failures is told of where either is wished for. */
    private static boolean wished(String topic, JsonNode notifications) {
        if (topic.equals(WITH_FAILURES)) {
            return wished(COMPLETED, notifications) || wished("run.failed", notifications);
        }
        String wish = SWITCHES.get(topic);
        return wish == null || notifications.path(wish).asBoolean(true);
    }
}
