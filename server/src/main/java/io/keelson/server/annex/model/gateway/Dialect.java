package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.Json;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The documents of a provider's API that are no answers of models. */
enum Dialect {
    OPENAI("/gateway/openai") {
        @Override
        ObjectNode error(GatewayError error) {
            ObjectNode document = Json.object();
            document.putObject("error").put("message", error.message()).put("type", type(error.status()))
                    .putNull("param").put("code", error.code());
            return document;
        }

        private String type(int status) {
            return switch (status) {
                case 401 -> "authentication_error";
                case 402 -> "billing_error";
                case 429 -> "rate_limit_error";
                default -> status >= SERVER_ERROR ? "server_error" : "invalid_request_error";
            };
        }

        @Override
        ObjectNode models(List<String> names) {
            ObjectNode document = Json.object().put("object", "list");
            ArrayNode data = document.putArray("data");
            names.forEach(name -> data.addObject().put("id", name).put("object", "model").put("created", 0)
                    .put("owned_by", "keelson"));
            return document;
        }
    },
    ANTHROPIC("/gateway/anthropic") {
        @Override
        ObjectNode error(GatewayError error) {
            ObjectNode document = Json.object().put("type", "error");
            document.putObject("error").put("type", type(error.status())).put("message", error.message())
                    .put("code", error.code());
            return document;
        }

        private String type(int status) {
            return switch (status) {
                case 401 -> "authentication_error";
                case 402 -> "billing_error";
                case 403 -> "permission_error";
                case 404 -> "not_found_error";
                case 413 -> "request_too_large";
                case 429 -> "rate_limit_error";
                case 503, 529 -> "overloaded_error";
                default -> status >= SERVER_ERROR ? "api_error" : "invalid_request_error";
            };
        }

        @Override
        ObjectNode models(List<String> names) {
            ObjectNode document = Json.object();
            ArrayNode data = document.putArray("data");
            names.forEach(name -> data.addObject().put("type", "model").put("id", name).put("display_name", name)
                    .put("created_at", "1970-01-01T00:00:00Z"));
            return document.put("has_more", false).put("first_id", names.isEmpty() ? null : names.getFirst())
                    .put("last_id", names.isEmpty() ? null : names.getLast());
        }
    };

    private static final int SERVER_ERROR = 500;

    private final String path;

    Dialect(String path) {
        this.path = path;
    }

    /** Where the server has it. */
    String path() {
        return path;
    }

    /** A refusal. */
    abstract ObjectNode error(GatewayError error);

    /** The list of models. */
    abstract ObjectNode models(List<String> names);
}
