package io.keelson.client;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The members of one run of a recipe. */
public final class RecipeRunRequest {

    private final ObjectNode body = Json.object();
    private @Nullable String idempotencyKey;

    private RecipeRunRequest() {}

    /** @param values of inputs, by name: any that Jackson can write */
    public static RecipeRunRequest of(Map<String, ?> values) {
        RecipeRunRequest request = new RecipeRunRequest();
        request.body.set("inputs", Json.of(values));
        return request;
    }

    /** The run's name; by default the recipe's. */
    public RecipeRunRequest name(String value) {
        body.put("name", value);
        return this;
    }

    /** A version of the recipe; by default the newest. */
    public RecipeRunRequest version(int value) {
        body.put("version", value);
        return this;
    }

    /** One member of the run's configuration, instead of the recipe's. */
    public RecipeRunRequest config(String name, Object value) {
        body.withObjectProperty("config").set(name, Json.of(value));
        return this;
    }

    /** Starts it at that time instead of at once. */
    public RecipeRunRequest startAt(Instant when) {
        body.put("start_at", when.toString());
        return this;
    }

    /**
     * Sets the idempotency key: a repeated request with it creates no second run. Without
     * one, the client makes a key for the call and its repetitions.
     */
    public RecipeRunRequest idempotencyKey(String key) {
        idempotencyKey = key;
        return this;
    }

    Call call(String recipe) {
        return Call.post(RequestPath.of("/recipes/", recipe, "/run"), body).keyed(idempotencyKey);
    }
}
