package io.keelson.server.api.http.support;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.json.SafeText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A problem document (RFC 9457) as an exception. Thrown while a request is parsed and executed; {@link ExceptionMapper}
 * turns it into the response.
 */
public final class ApiProblem extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final String TYPE = "urn:keelson:error:";

    private final int status;
    private final transient ObjectNode document;
    private final transient Map<String, String> headers = new LinkedHashMap<>();

    private ApiProblem(int status, String title, String code, String detail) {
        super(code + ": " + detail, null, false, false);
        this.status = status;
        this.document = JsonNodeFactory.instance.objectNode()
                .put("type", TYPE + code).put("title", title).put("status", status)
                .put("detail", SafeText.clean(detail)).put("code", code);
    }

    public static ApiProblem of(ErrorCode code, String detail) {
        return new ApiProblem(code.status(), code.title(), code.name(), detail);
    }

    /** Under another status than the code usually has. */
    public static ApiProblem of(int status, ErrorCode code, String detail) {
        return new ApiProblem(status, code.title(), code.name(), detail);
    }

    /** The rejection of a body with one problem. */
    public static ApiProblem of(String code, String pointer, String message) {
        return of(List.of(new PlanProblem(code, pointer, message)));
    }

    /** A problem with the code and pointer of the first problem; lists all problems. */
    public static ApiProblem of(List<PlanProblem> problems) {
        PlanProblem first = problems.getFirst();
        String detail = problems.size() == 1 ? first.message()
                : problems.size() + " problems, the first: " + first.message();
        ErrorCode kind = kind(first.code());
        ApiProblem apiProblem = new ApiProblem(kind.status(), kind.title(), first.code(), detail);
        apiProblem.document.put("pointer", SafeText.clean(first.pointer()));
        var list = apiProblem.document.putArray("problems");
        for (PlanProblem problem : problems) {
            list.addObject().put("code", problem.code()).put("pointer", SafeText.clean(problem.pointer()))
                    .put("message", SafeText.clean(problem.message()));
        }
        return apiProblem;
    }

    private static ErrorCode kind(String code) {
        return switch (code) {
            case "MALFORMED_JSON", "MALFORMED_YAML" -> ErrorCode.MALFORMED_JSON;
            case "TOO_LARGE" -> ErrorCode.BODY_TOO_LARGE;
            default -> ErrorCode.INVALID_BODY;
        };
    }

    /** The stable code of the error. */
    public String code() {
        return document.get("code").stringValue();
    }

    /** With a further member of the document. */
    public ApiProblem with(String member, String value) {
        document.put(member, SafeText.clean(value));
        return this;
    }

    /** With a document as a further member. */
    public ApiProblem with(String member, JsonNode value) {
        document.set(member, value);
        return this;
    }

    /** With the list of what would have been accepted. */
    public ApiProblem allowing(List<String> allowed) {
        var list = document.putArray("allowed");
        allowed.forEach(list::add);
        return this;
    }

    public ApiProblem header(String name, String value) {
        headers.put(name, value);
        return this;
    }

    public ObjectNode document() {
        return document;
    }

    Map<String, String> headers() {
        return headers;
    }

    public ApiResponse answer() {
        return ApiResponse.problem(status, document, headers);
    }
}
