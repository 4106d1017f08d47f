package io.keelson.client;

import io.keelson.api.trigger.Trigger;
import io.keelson.api.trigger.TriggerDelivery;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Runs that are started by events. Every method throws {@link KeelsonException}, as {@link Api} describes. */
public final class Triggers {

    private final Api api;

    Triggers(Api api) {
        this.api = api;
    }

    /** All of them, by name, without missions and examples. */
    public List<Trigger> list() {
        return Page.of(api.get("/triggers"), Trigger.class).items();
    }

    /** Reads a trigger. */
    public Trigger get(String id) {
        return trigger(Call.get(RequestPath.of("/triggers/", id)));
    }

    /** Finds a trigger by name, without mission and example; empty if the name is unknown. */
    public Optional<Trigger> byName(String name) {
        return Page.of(api.get(RequestPath.of("/triggers").with("name", name).toString()), Trigger.class).items()
                .stream().findFirst();
    }

    /**
     * Creates a trigger.
     *
     * @param definition with the members of {@link Trigger.Definition}
     */
    public Trigger create(ObjectNode definition) {
        return trigger(Call.post("/triggers", definition).keyed(null));
    }

    /**
     * Changes the given members.
     *
     * @param change with members of {@link Trigger.Change}
     */
    public Trigger change(String id, ObjectNode change) {
        return trigger(Call.patch(RequestPath.of("/triggers/", id), change));
    }

    /** Lets a trigger receive events, or starts no more runs by it. */
    public Trigger enable(String id, boolean enabled) {
        return change(id, Json.object().put("enabled", enabled));
    }

    /** Deletes a trigger with its deliveries; its runs stay. */
    public void delete(String id) {
        api.send(Call.of("DELETE", RequestPath.of("/triggers/", id), null));
    }

    /**
     * Its deliveries with their outcomes, the newest first.
     *
     * @param state the state of the deliveries; null for all
     * @param limit maximum number
     */
    public List<TriggerDelivery> deliveries(String id, @Nullable String state, int limit) {
        return Page.of(api.get(RequestPath.of("/triggers/", id, "/deliveries").with("state", state)
                .with("limit", limit).toString()), TriggerDelivery.class).items();
    }

    /** Reads a delivery with its headers and body. */
    public TriggerDelivery delivery(String id, String delivery) {
        return Json.document(api.get(RequestPath.of("/triggers/", id, "/deliveries/", delivery).toString()),
                TriggerDelivery.class);
    }

    /**
     * Sends an event to the triggers that name it. The same id starts no second run.
     *
     * @param data body of the event
     * @return a receipt for each trigger
     */
    public List<TriggerDelivery.Receipt> send(String name, String id, @Nullable JsonNode data) {
        ObjectNode event = Json.object().put("name", name).put("id", id);
        if (data != null) {
            event.set("data", data);
        }
        return Page.of(api.send(Call.post("/events", event).repeatable()).body(), TriggerDelivery.Receipt.class)
                .items();
    }

    /**
     * Decides deliveries again.
     *
     * @param which with members of {@link TriggerDelivery.Replay}; without members, all that are decided
     * @return how many there are, and whether further ones follow
     */
    public TriggerDelivery.Replayed replay(String id, ObjectNode which) {
        return Json.document(
                api.send(Call.post(RequestPath.of("/triggers/", id, "/replay"), which).keyed(null)).body(),
                TriggerDelivery.Replayed.class);
    }

    /**
     * Evaluates a trigger with an event, and stores nothing.
     *
     * @param event with the members of {@link Trigger.Example}
     */
    public Trigger.Tested test(String id, JsonNode event) {
        return Json.document(api.send(Call.post(RequestPath.of("/triggers/", id, "/test"), event).repeatable()).body(),
                Trigger.Tested.class);
    }

    private Trigger trigger(Call call) {
        return Json.document(api.send(call).body(), Trigger.class);
    }
}
