package io.keelson.devmodel;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The bodies of errors that both APIs of OpenAI have. */
final class OpenAiErrors {

    private OpenAiErrors() {}

    static ObjectNode body(int status, JsonNode stated) {
        ObjectNode error = Json.object();
        error.put("message", stated.path("message").asString("dev-model answers " + status + " by its script"));
        error.put("type", stated.path("type").asString(type(status)));
        error.putNull("param");
        error.put("code", stated.path("code").asString(code(status)));
        return Json.object().set("error", error);
    }

    private static String type(int status) {
        return switch (status) {
            case 429 -> "rate_limit_error";
            case 503 -> "service_unavailable_error";
            default -> status < 500 ? "invalid_request_error" : "server_error";
        };
    }

    private static @Nullable String code(int status) {
        return switch (status) {
            case 401 -> "invalid_api_key";
            case 404 -> "model_not_found";
            case 429 -> "rate_limit_exceeded";
            case 503 -> "server_is_overloaded";
            default -> null;
        };
    }
}
