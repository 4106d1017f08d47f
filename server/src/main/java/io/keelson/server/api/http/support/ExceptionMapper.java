package io.keelson.server.api.http.support;

import io.keelson.server.base.artifact.StoreFailedException;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.engine.commit.Commands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps exceptions to problem documents. Causes go to the log only. */
public final class ExceptionMapper {

    private static final Logger LOG = LoggerFactory.getLogger(ExceptionMapper.class);
    private static final String RETRY_AFTER = "Retry-After";
    private static final String RETRY_DELAY = "1";

    private ExceptionMapper() {}

    /** @param request method and path, for the log */
    public static ApiProblem refusal(Throwable failure, String request) {
        return switch (failure) {
            case ApiProblem problem -> problem;
            case CompletionException e when e.getCause() != null -> refusal(e.getCause(), request);
            case ExecutionException e when e.getCause() != null -> refusal(e.getCause(), request);
            case Commands.Overloaded e -> ApiProblem.of(ErrorCode.OVERLOADED,
                    "too many commands wait to be committed; nothing was changed").header(RETRY_AFTER, RETRY_DELAY);
            case DocumentMemory.FullException e -> ApiProblem.of(ErrorCode.OVERLOADED,
                    "too many large requests are in progress; nothing was changed").header(RETRY_AFTER, RETRY_DELAY);
            case SQLException e -> refusal(new SqlFailure(e), request);
            case SqlFailure e when e.unavailable() -> refusedBy(e, request);
            case TimeoutException e -> unavailable(e, request);
            case HttpException e -> ofStatus(e.getCode());
            case StoreFailedException e ->
                ApiProblem.of(ErrorCode.ARTIFACT_STORE_FAILED, String.valueOf(e.getMessage()))
                        .header(RETRY_AFTER, RETRY_DELAY);
            case UncheckedIOException e when e.getCause() instanceof StoreFailedException ->
                refusal(e.getCause(), request);
            case IOException e when e.getCause() instanceof TimeoutException -> ApiProblem.of(ErrorCode.REQUEST_TIMEOUT,
                    "the body did not arrive in time");
            case IOException e -> ApiProblem.of(ErrorCode.MALFORMED_REQUEST, "the request ended early");
            case InterruptedException e -> ApiProblem.of(ErrorCode.NOT_READY, "the server is stopping")
                    .header(RETRY_AFTER, RETRY_DELAY);
            default -> unexpected(failure, request);
        };
    }

    /** In the words that tell an operator what to do. What answers with a state of these has changed nothing. */
    private static ApiProblem refusedBy(SqlFailure failure, String request) {
        return switch (failure.sqlState()) {
            case "53100" -> refusedBy(failure, request, ErrorCode.DATABASE_FULL,
                    "the database's disk is full; nothing was changed");
            case SqlFailure.READ_ONLY -> refusedBy(failure, request, ErrorCode.DATABASE_READ_ONLY,
                    "the database takes no changes: it is a standby or was made read-only; nothing was changed");
            case "53200" -> refusedBy(failure, request, ErrorCode.DATABASE_UNAVAILABLE,
                    "the database is out of memory; nothing was changed");
            case "53300" -> refusedBy(failure, request, ErrorCode.DATABASE_UNAVAILABLE,
                    "the database has no connection left (max_connections); nothing was changed");
            case "57P03" -> refusedBy(failure, request, ErrorCode.DATABASE_UNAVAILABLE,
                    "the database is starting or stopping; nothing was changed");
            default -> unavailable(failure, request);
        };
    }

    private static ApiProblem refusedBy(SqlFailure failure, String request, ErrorCode code, String detail) {
        LOG.warn("{} failed: {} ({})", request, detail, failure.sqlState(), failure);
        return ApiProblem.of(code, detail).header(RETRY_AFTER, RETRY_DELAY);
    }

    private static ApiProblem unavailable(Exception failure, String request) {
        LOG.warn("{} failed: the database does not respond", request, failure);
        return ApiProblem.of(ErrorCode.DATABASE_UNAVAILABLE,
                "the database does not respond; repeat the request to learn its outcome")
                .header(RETRY_AFTER, RETRY_DELAY);
    }

    private static ApiProblem unexpected(Throwable failure, String request) {
        LOG.error("{} failed", request, failure);
        return ApiProblem.of(ErrorCode.INTERNAL_ERROR, "see the server's log");
    }

    /** For refusals by the HTTP layers below: the document has their status. */
    public static ApiProblem ofStatus(int status) {
        return switch (status) {
            case 404 -> ApiProblem.of(ErrorCode.ROUTE_NOT_FOUND, "see /openapi.json for the routes that exist");
            case 405 -> ApiProblem.of(ErrorCode.METHOD_NOT_ALLOWED, "the header Allow names the methods of this route");
            case 408 -> ApiProblem.of(ErrorCode.REQUEST_TIMEOUT, "the request did not arrive in time");
            case 413 -> ApiProblem.of(ErrorCode.BODY_TOO_LARGE, "the body is too large");
            case 414 -> ApiProblem.of(ErrorCode.URI_TOO_LONG, "the address is too long");
            case 415 -> ApiProblem.of(ErrorCode.UNSUPPORTED_MEDIA_TYPE, "the body's type is not supported");
            case 421 -> ApiProblem.of(ErrorCode.HOST_UNKNOWN,
                    "the header Host names neither this machine nor the host of KEELSON_PUBLIC_URL");
            case 431 -> ApiProblem.of(ErrorCode.HEADERS_TOO_LARGE, "the headers are too large");
            case 501 -> ApiProblem.of(ErrorCode.TRANSFER_CODING_UNSUPPORTED,
                    "the header Transfer-Encoding supports only chunked");
            case 503 -> ApiProblem.of(ErrorCode.NOT_READY, "the server is stopping").header(RETRY_AFTER, RETRY_DELAY);
            case 417 ->
                ApiProblem.of(status, ErrorCode.MALFORMED_REQUEST, "the header Expect supports only 100-continue");
            case 426, 505 ->
                ApiProblem.of(status, ErrorCode.MALFORMED_REQUEST, "the server supports HTTP/1.1 and HTTP/1.0");
            default -> status < 500
                    ? ApiProblem.of(status, ErrorCode.MALFORMED_REQUEST, "the request is not valid HTTP")
                    : ApiProblem.of(status, ErrorCode.INTERNAL_ERROR, "see the server's log");
        };
    }
}
