package io.keelson.client;

import java.math.BigDecimal;
import tools.jackson.databind.node.ObjectNode;

/** A deployment to make. */
public final class DeploymentRequest {

    private final ObjectNode body;

    private DeploymentRequest(ObjectNode body) {
        this.body = body;
    }

    /** @param strategy the deployed strategy */
    public static DeploymentRequest of(String strategy) {
        return new DeploymentRequest(Json.object().put("strategy", strategy));
    }

    /** {@code paper} or {@code live}. */
    public DeploymentRequest mode(String value) {
        body.put("mode", value);
        return this;
    }

    /** Above 0. */
    public DeploymentRequest capital(BigDecimal value) {
        body.put("capital", value.toPlainString());
        return this;
    }

    /** One member of its configuration: any value that Jackson can write. */
    public DeploymentRequest config(String name, Object value) {
        body.withObjectProperty("config").set(name, Json.of(value));
        return this;
    }

    ObjectNode body() {
        return body;
    }
}
