package io.keelson.client;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A filter of runs: all given conditions must match. Null matches anything.
 *
 * @param state as {@code failed}
 * @param stateType as {@code terminal}
 * @param tags required tags
 * @param name the whole name
 * @param text contained in name or goal, case-insensitive
 * @param createdAfter inclusive
 * @param createdBefore exclusive
 * @param recipeId the run's recipe
 * @param trigger as {@code cron}
 * @param errorCode of the run itself
 */
public record RunFilter(@Nullable String state, @Nullable String stateType, List<String> tags, @Nullable String name,
        @Nullable String text, @Nullable Instant createdAfter, @Nullable Instant createdBefore,
        @Nullable String recipeId, @Nullable String trigger, @Nullable String externalId, @Nullable String errorCode) {

    private static final RunFilter ALL =
            new RunFilter(null, null, List.of(), null, null, null, null, null, null, null, null);

    public RunFilter {
        tags = List.copyOf(tags);
    }

    /** All runs; narrowed by the other methods. */
    public static RunFilter all() {
        return ALL;
    }

    /** Only this state. */
    public RunFilter state(String value) {
        return new RunFilter(value, stateType, tags, name, text, createdAfter, createdBefore, recipeId, trigger,
                externalId, errorCode);
    }

    /** Only this type of state: {@code pending}, {@code running}, {@code paused} or {@code terminal}. */
    public RunFilter stateType(String value) {
        return new RunFilter(state, value, tags, name, text, createdAfter, createdBefore, recipeId, trigger, externalId,
                errorCode);
    }

    /** One more. */
    public RunFilter tag(String value) {
        List<String> more = new ArrayList<>(tags);
        more.add(Objects.requireNonNull(value));
        return new RunFilter(state, stateType, more, name, text, createdAfter, createdBefore, recipeId, trigger,
                externalId, errorCode);
    }

    /** Only runs of this name. */
    public RunFilter name(String value) {
        return new RunFilter(state, stateType, tags, value, text, createdAfter, createdBefore, recipeId, trigger,
                externalId, errorCode);
    }

    /** Only runs with this text in name or goal. */
    public RunFilter text(String value) {
        return new RunFilter(state, stateType, tags, name, value, createdAfter, createdBefore, recipeId, trigger,
                externalId, errorCode);
    }

    /** Only runs created after this instant. */
    public RunFilter createdAfter(Instant value) {
        return new RunFilter(state, stateType, tags, name, text, value, createdBefore, recipeId, trigger, externalId,
                errorCode);
    }

    /** Only runs created before this instant. */
    public RunFilter createdBefore(Instant value) {
        return new RunFilter(state, stateType, tags, name, text, createdAfter, value, recipeId, trigger, externalId,
                errorCode);
    }

    /** Only runs of this recipe. */
    public RunFilter recipeId(String value) {
        return new RunFilter(state, stateType, tags, name, text, createdAfter, createdBefore, value, trigger,
                externalId, errorCode);
    }

    /** Only runs with this trigger, such as {@code cron}. */
    public RunFilter trigger(String value) {
        return new RunFilter(state, stateType, tags, name, text, createdAfter, createdBefore, recipeId, value,
                externalId, errorCode);
    }

    /** Only the run with this external id. */
    public RunFilter externalId(String value) {
        return new RunFilter(state, stateType, tags, name, text, createdAfter, createdBefore, recipeId, trigger, value,
                errorCode);
    }

    /** Only runs with this error code. */
    public RunFilter errorCode(String value) {
        return new RunFilter(state, stateType, tags, name, text, createdAfter, createdBefore, recipeId, trigger,
                externalId, value);
    }

    /** Adds the filter to the parameters of a list. */
    RequestPath addTo(RequestPath route) {
        RequestPath all = route.with("state", state).with("state_type", stateType).with("name", name).with("text", text)
                .with("created_after", createdAfter).with("created_before", createdBefore).with("recipe_id", recipeId)
                .with("trigger", trigger).with("external_id", externalId).with("error_code", errorCode);
        tags.forEach(tag -> all.with("tag", tag));
        return all;
    }

    /** The filter as the member of a body. */
    ObjectNode toJson() {
        ObjectNode json = Json.object();
        put(json, "state", state);
        put(json, "state_type", stateType);
        put(json, "name", name);
        put(json, "text", text);
        put(json, "created_after", createdAfter);
        put(json, "created_before", createdBefore);
        put(json, "recipe_id", recipeId);
        put(json, "trigger", trigger);
        put(json, "external_id", externalId);
        put(json, "error_code", errorCode);
        if (!tags.isEmpty()) {
            ArrayNode array = json.putArray("tags");
            tags.forEach(array::add);
        }
        return json;
    }

    private static void put(ObjectNode json, String member, @Nullable Object value) {
        if (value != null) {
            json.put(member, value.toString());
        }
    }
}
