package io.keelson.server.annex.model.gateway;

import java.util.LinkedHashMap;
import java.util.Map;

/** A request of a program is refused; {@link Dialect#error} writes it in the wire's form. */
final class GatewayError extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final transient Map<String, String> headers = new LinkedHashMap<>();

    /** @param code stable, in lower case */
    GatewayError(int status, String code, String message) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
    }

    static GatewayError notFound() {
        return new GatewayError(404, "not_found", "the gateway has no such path");
    }

    int status() {
        return status;
    }

    String code() {
        return code;
    }

    String message() {
        return String.valueOf(getMessage());
    }

    Map<String, String> headers() {
        return headers;
    }

    GatewayError header(String name, String value) {
        headers.put(name, value);
        return this;
    }
}
