package io.keelson.server.api.http.gateway;

import io.keelson.server.api.http.support.ApiProblem;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** A request of a program is refused. Each path writes the refusal in the form of its protocol. */
public class GatewayError extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final transient Map<String, String> headers = new LinkedHashMap<>();

    /** @param code stable, in lower case */
    public GatewayError(int status, String code, String message) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
    }

    public static GatewayError notFound() {
        return new GatewayError(404, "not_found", "the gateway has no such path");
    }

    /** A refusal of the server before the request comes to its path. */
    public static GatewayError of(ApiProblem problem) {
        return new GatewayError(problem.answer().status(), problem.code().equals("BODY_TOO_LARGE")
                ? "request_too_large"
                : problem.code().toLowerCase(Locale.ROOT),
                problem.document().path("detail").asString(""));
    }

    /** The status of HTTP. */
    public int status() {
        return status;
    }

    /** Stable, in lower case. */
    public String code() {
        return code;
    }

    public String message() {
        return String.valueOf(getMessage());
    }

    /** Headers of the answer. */
    public Map<String, String> headers() {
        return headers;
    }

    /** Adds a header to the answer. */
    public GatewayError header(String name, String value) {
        headers.put(name, value);
        return this;
    }
}
