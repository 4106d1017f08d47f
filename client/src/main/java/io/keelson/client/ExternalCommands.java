package io.keelson.client;

import io.keelson.api.work.ExternalCommand;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Commands to external systems: deployments, orders, and the types that the server's settings add. One with a key may be
 * sent again after a lost answer: at most one executes. Every method throws {@link KeelsonException} as {@link Api} says.
 */
public final class ExternalCommands {

    private static final String KEY = "Idempotency-Key";

    private final Api api;

    ExternalCommands(Api api) {
        this.api = api;
    }

    /**
     * Newest first.
     *
     * @param type only of that one; null for all, as for {@code state} and {@code run}
     * @param cursor where the page before ended; null for the first one
     * @param limit at most so many, up to 500
     */
    public Page<ExternalCommand> list(@Nullable String type, @Nullable String state, @Nullable String run,
            @Nullable String cursor, int limit) {
        return Page.of(api.get(RequestPath.of("/commands").with("type", type).with("state", state).with("run_id", run)
                .with("cursor", cursor).with("limit", limit).toString()), ExternalCommand.class);
    }

    /** @throws KeelsonException {@code COMMAND_NOT_FOUND} */
    public ExternalCommand get(String id) {
        return Json.document(api.get(RequestPath.of("/commands/", id).toString()), ExternalCommand.class);
    }

    /**
     * Sends a command of a type that the server's settings name.
     *
     * @param key the same for repetitions of one request
     * @throws KeelsonException {@code COMMAND_REFUSED}, {@code COMMAND_OUTCOME_UNKNOWN}, {@code IDEMPOTENCY_KEY_CONFLICT}
     */
    public ExternalCommand send(String type, JsonNode payload, String key) {
        return Json.document(post("/commands", Json.object().put("type", type).set("payload", payload), key),
                ExternalCommand.class);
    }

    /**
     * Places an order.
     *
     * @param key the same for the same order
     * @return the order; while it is still tried, the command, which has a {@code state}
     */
    public JsonNode placeOrder(OrderRequest order, String key) {
        return post("/orders", order.body(), key);
    }

    /** Reads an order with its current state at the provider. */
    public JsonNode order(String id) {
        return api.get(RequestPath.of("/orders/", id).toString());
    }

    /** Newest first, as the provider says that they are now. */
    public Page<JsonNode> orders(@Nullable String cursor, int limit) {
        return Page.of(api.get(RequestPath.of("/orders").with("cursor", cursor).with("limit", limit).toString()),
                JsonNode.class);
    }

    /** Cancels an order. */
    public JsonNode cancelOrder(String id) {
        return api.post(RequestPath.of("/orders/", id, "/cancel").toString(), Json.object());
    }

    /**
     * Deploys something.
     *
     * @param key the same for the same deployment
     * @return the deployment; while it is still tried, the command, which has a {@code state}
     */
    public JsonNode deploy(DeploymentRequest deployment, String key) {
        return post("/deployments", deployment.body(), key);
    }

    /** Reads a deployment with its current state at the provider. */
    public JsonNode deployment(String id) {
        return api.get(RequestPath.of("/deployments/", id).toString());
    }

    /** Newest first, as the provider says that they are now. */
    public Page<JsonNode> deployments(@Nullable String cursor, int limit) {
        return Page.of(api.get(RequestPath.of("/deployments").with("cursor", cursor).with("limit", limit).toString()),
                JsonNode.class);
    }

    /** Stops a deployment. */
    public JsonNode stopDeployment(String id) {
        return api.post(RequestPath.of("/deployments/", id, "/stop").toString(), Json.object());
    }

    private JsonNode post(String path, JsonNode body, String key) {
        return api.send(Call.post(path, body).header(KEY, key).repeatable()).body();
    }
}
