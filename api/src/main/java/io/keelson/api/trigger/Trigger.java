package io.keelson.api.trigger;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Omittable;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A trigger, which starts runs of a recipe or of a mission, or signals runs, when events arrive.
 *
 * @param id id of the resource
 * @param workspaceId id of its workspace
 * @param name name, unique in the workspace
 * @param path path of the server at which it receives events; null for the kind {@code run}
 * @param source source of its events
 * @param key expression for the identity of an event; null for the id that the source's sender gives
 * @param filter expression that an event must meet; null for all events
 * @param recipeId id of the recipe; null for a mission or a signal
 * @param mission the mission in the shape of a mission file; null for a recipe or a signal, absent in lists
 * @param signal signal that it sends to other runs, as it was given; null for a recipe or a mission
 * @param inputs values of inputs, by name, with expressions
 * @param priority expression for the priority of the run; null for that of the mission
 * @param flow rules by which events wait, are merged or dropped, as they were given; null without rules
 * @param example event by which the expressions were checked; null without one, absent in lists
 * @param enabled whether it receives events and starts runs
 * @param version number of the version, from 1
 * @param createdBy name of the principal that created it
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 */
public record Trigger(@Id String id, @Id String workspaceId, String name, @Nullable String path, Source source,
        @Nullable String key, @Nullable String filter, @Nullable @Id String recipeId,
        @Omittable @Nullable ObjectNode mission, @Nullable ObjectNode signal, ObjectNode inputs,
        @Nullable String priority,
        @Nullable ObjectNode flow, @Omittable @Nullable ObjectNode example,
        boolean enabled, int version, String createdBy, Instant createdAt, Instant updatedAt) {

    /**
     * Source of events.
     *
     * @param kind proof that a sender of events has to give
     * @param secrets names of the workspace's secrets, each of which is accepted
     * @param header header with the secret; null but for {@code secret}
     * @param user name of the user; null but for {@code basic}
     * @param event name of the events; null but for {@code event}
     * @param toleranceSeconds maximum difference of a signature's time to the server's time, in seconds
     */
    public record Source(
            @OneOf({"standard", "github", "stripe", "slack", "secret", "basic", "event", "run"}) String kind,
            List<String> secrets, @Nullable String header, @Nullable String user, @Nullable String event,
            int toleranceSeconds) {}

    /**
     * Creates a trigger. It has a recipe, a mission or a signal.
     *
     * @param name unique in the workspace
     * @param source source of its events
     * @param key {@code ${ … }} for the identity of an event, over {@code .headers} and {@code .body}; required for the kinds
     *     {@code secret} and {@code basic}, whose senders give no id
     * @param filter {@code ${ … }} over {@code .headers} and {@code .body}; an event for which it is false or null starts no run
     * @param recipe a recipe by its name or id; or a mission or a signal is given
     * @param mission as in a mission file, without members of a single run
     * @param signal signal for runs that exist
     * @param inputs values of inputs, by name, with {@code ${ … }} over {@code .headers}, {@code .body} and, with {@code flow.batch},
     *     {@code .batch}, the list of all events
     * @param priority {@code ${ … }} for the priority of the run, a whole number: lower goes first
     * @param flow rules by which events wait, are merged or dropped
     * @param example event that the expressions are checked with; required if there are expressions
     * @param enabled whether it receives events
     */
    @Request
    public record Definition(@Text(format = "name", pattern = "\\S", max = 200) String name, NewSource source,
            @Nullable @Text(min = 1, max = 4000) String key, @Nullable @Text(min = 1, max = 8000) String filter,
            @Nullable @Text(max = 200) String recipe, @Nullable ObjectNode mission, @Nullable Signal signal,
            @Default("{}") ObjectNode inputs, @Nullable @Text(min = 1, max = 4000) String priority, @Nullable Flow flow,
            @Nullable Example example,
            @Default("true") boolean enabled) {

        public Definition {
            inputs = inputs == null ? JsonNodeFactory.instance.objectNode() : inputs;
        }
    }

    /**
     * Source of events.
     *
     * @param kind proof that a sender has to give: a signature of Standard Webhooks, GitHub, Stripe or Slack, a secret in a header, or
     *     a user and a password; {@code event} for events at {@code POST /events}, with an API key; {@code run} for the ends of runs
     * @param secrets names of the workspace's secrets; each is accepted, so that a new one can replace an old one without a gap. The kinds
     *     {@code event} and {@code run} have none, each other kind at least one
     * @param header header with the secret, for the kind {@code secret}; {@code X-Webhook-Secret} if absent
     * @param user name of the user, for the kind {@code basic}
     * @param event name of the events, for the kind {@code event}; a {@code *} at its end matches any text
     * @param toleranceSeconds maximum difference of a signature's time to the server's time, in seconds
     */
    @Request
    public record NewSource(
            @OneOf({"standard", "github", "stripe", "slack", "secret", "basic", "event", "run"}) String kind,
            @Default("[]") @Size(max = 3) List<@Text(min = 1, max = 100) String> secrets,
            @Nullable @Text(pattern = "^[A-Za-z0-9-]{1,100}$") String header,
            @Nullable @Text(min = 1, max = 200) String user,
            @Nullable @Text(pattern = "^\\S+$", max = 200) String event,
            @Default("300") @Range(min = 10, max = 3600) int toleranceSeconds) {}

    /**
     * An event as an example.
     *
     * @param headers headers of the request, by name
     * @param body body of the request
     */
    @Request
    public record Example(@Default("{}") ObjectNode headers,
            JsonNode body) {

        public Example {
            headers = headers == null ? JsonNodeFactory.instance.objectNode() : headers;
        }
    }

    /**
     * Changes a trigger. Members that are absent stay unchanged. The whole is checked as for a new trigger.
     *
     * @param name unique in the workspace
     * @param source source of its events
     * @param key expression for the identity of an event; null removes it
     * @param filter expression that an event must meet; null removes it
     * @param recipe a recipe by its name or id, which replaces the mission or the signal
     * @param mission a mission, which replaces the recipe or the signal
     * @param signal a signal, which replaces the recipe or the mission
     * @param inputs values of inputs, by name
     * @param priority expression for the priority of the run; null removes it
     * @param flow all rules by which events wait, are merged or dropped; an object without members removes them
     * @param example event that the expressions are checked with
     * @param enabled whether it receives events and starts runs
     */
    @Request
    public record Change(@Nullable @Text(format = "name", pattern = "\\S", max = 200) String name,
            @Nullable NewSource source, @Nullable Optional<@Text(min = 1, max = 4000) String> key,
            @Nullable Optional<@Text(min = 1, max = 8000) String> filter, @Nullable @Text(max = 200) String recipe,
            @Nullable ObjectNode mission, @Nullable Signal signal, @Nullable ObjectNode inputs,
            @Nullable Optional<@Text(min = 1, max = 4000) String> priority, @Nullable Flow flow,
            @Nullable Example example, @Nullable Boolean enabled) {}

    /**
     * A signal for runs that exist: for the run with an external id, or for all open runs with a tag.
     *
     * @param name name of the signal
     * @param externalId external id of the run, with {@code ${ … }}
     * @param tag tag of the open runs, 100 at most, with {@code ${ … }}
     * @param payload payload of the signal, with {@code ${ … }}
     */
    @Request
    public record Signal(@Text(pattern = "^[A-Za-z0-9_.-]{1,100}$") String name,
            @Nullable @Text(min = 1, max = 4000) String externalId, @Nullable @Text(min = 1, max = 4000) String tag,
            @Nullable JsonNode payload) {}

    /**
     * Rules by which events wait, are merged or dropped, in this order. Each counts the events of one key.
     *
     * @param rate maximum number of events in a time
     * @param batch one run for several events; not together with {@code debounce}
     * @param debounce one run for the last event of a burst
     * @param singleton one open run at a time
     */
    @Request
    public record Flow(@Nullable Rate rate, @Nullable Batch batch, @Nullable Debounce debounce,
            @Nullable Singleton singleton) {}

    /**
     * Maximum number of events in a time, over all servers.
     *
     * @param key {@code ${ … }}; all events of the trigger if absent
     * @param limit number of events that are admitted in each period
     * @param periodSeconds length of the period, in seconds
     * @param over rule for further events: {@code drop} them, or {@code queue} them until they are admitted
     */
    @Request
    public record Rate(@Nullable @Text(min = 1, max = 4000) String key, @Range(min = 1, max = 100_000) int limit,
            @Range(min = 1, max = 86_400) int periodSeconds, @Default("queue") @OneOf({"drop", "queue"}) String over) {}

    /**
     * One run for several events.
     *
     * @param key {@code ${ … }}; all events of the trigger if absent
     * @param max number of events that start the run at once
     * @param periodSeconds maximum wait after the first event, in seconds
     */
    @Request
    public record Batch(@Nullable @Text(min = 1, max = 4000) String key, @Range(min = 2, max = 1000) int max,
            @Range(min = 1, max = 86_400) int periodSeconds) {}

    /**
     * One run for the last event of a burst.
     *
     * @param key {@code ${ … }}; all events of the trigger if absent
     * @param periodSeconds time without further events after which the run starts, in seconds
     * @param timeoutSeconds maximum wait after the first event, in seconds
     */
    @Request
    public record Debounce(@Nullable @Text(min = 1, max = 4000) String key,
            @Range(min = 1, max = 86_400) int periodSeconds, @Range(min = 1, max = 604_800) int timeoutSeconds) {}

    /**
     * One open run at a time.
     *
     * @param key {@code ${ … }}; all events of the trigger if absent
     * @param over rule for an event while a run is open: {@code skip} it, {@code replace} the run, which is cancelled, or {@code queue} it
     *     until the run ends
     */
    @Request
    public record Singleton(@Nullable @Text(min = 1, max = 4000) String key,
            @OneOf({"skip", "replace", "queue"}) String over) {}

    /**
     * Result of an event that is not stored.
     *
     * @param key identity of the event; null if the sender's id is used
     * @param inputs values of inputs, or the payload of the signal; null if they are not evaluated
     * @param errorCode why it would start no run; null if it would
     * @param errorMessage message of the error; null without one
     */
    public record Tested(@Nullable String key, @Nullable JsonNode inputs, @Nullable String errorCode,
            @Nullable String errorMessage) {}
}
