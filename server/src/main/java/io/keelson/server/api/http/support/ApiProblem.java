package io.keelson.server.api.http.support;

import io.keelson.api.Problem;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SafeText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
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

    private ApiProblem(Problem problem) {
        super(problem.code() + ": " + problem.detail(), null, false, false);
        this.status = problem.status();
        this.document = Json.document(problem);
    }

    private static ApiProblem of(int status, ErrorCode kind, String code, String detail,
            @Nullable List<Problem.Fault> faults) {
        return new ApiProblem(
                Problem.of(TYPE + code, kind.title(), status, SafeText.clean(detail), code, faults));
    }

    public static ApiProblem of(ErrorCode code, String detail) {
        return of(code.status(), code, detail);
    }

    /** Under another status than the code usually has. */
    public static ApiProblem of(int status, ErrorCode code, String detail) {
        return of(status, code, code.name(), detail, null);
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
        return of(kind.status(), kind, first.code(), detail,
                problems.stream().map(each -> new Problem.Fault(each.code(),
                        SafeText.clean(each.pointer()), SafeText.clean(each.message()))).toList());
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

    boolean isNotFound() {
        return status == ErrorCode.RUN_NOT_FOUND.status();
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
