package io.keelson.server.api.http.support;

import io.keelson.server.base.json.Json;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** Problem documents instead of the HTTP server's own pages, for requests that reach no route. */
public final class ErrorPages extends ErrorHandler {

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        ByteBuffer body = problem(response.getStatus(), response.getHeaders());
        response.write(true, body, callback);
        return true;
    }

    @Override
    public ByteBuffer badMessageError(int status, String reason, HttpFields.Mutable headers) {
        return problem(status, headers);
    }

    private static ByteBuffer problem(int status, HttpFields.Mutable headers) {
        ApiProblem problem = ExceptionMapper.ofStatus(status);
        problem.headers().forEach(headers::put);
        headers.put(HttpHeader.CONTENT_TYPE, ApiResponse.PROBLEM);
        // the connection ends after such a request, and its client must not send the next one into the void
        headers.put(HttpHeader.CONNECTION, "close");
        return ByteBuffer.wrap(Json.write(problem.document()));
    }
}
