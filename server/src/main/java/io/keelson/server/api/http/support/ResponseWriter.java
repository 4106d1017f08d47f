package io.keelson.server.api.http.support;

import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;

/** Puts an answer on the wire. */
public final class ResponseWriter {

    private static final Logger LOG = LoggerFactory.getLogger(ResponseWriter.class);
    private static final byte[] NONE = {};
    private static final int BUFFER = 8 << 10;
    /** Send buffer of a stream. The system takes about twice as much: some hundred kilobytes a second for the most distant client. */
    private static final int STREAM_SEND_BUFFER = 32 << 10;
    private static final int MAX_DRAINED = 1 << 20;
    private static final int MAX_LINGERED = 64 << 20;

    private ResponseWriter() {}

    /**
     * Sends an answer.
     *
     * @param rest the unread rest of the request's body
     * @throws JacksonException when the document cannot be written; nothing has been sent then
     */
    public static void send(Context context, ApiResponse response, TimedInputStream rest) throws IOException {
        byte[] bytes = response.content() instanceof ApiResponse.Content.Document document
                ? WrittenDocument.bytes(document.json())
                : NONE;
        boolean whole = drained(rest, MAX_DRAINED);
        if (!whole) {
            context.header("Connection", "close");
        }
        response.headers().forEach(context::header);
        context.header("X-Content-Type-Options", "nosniff");
        switch (response.content()) {
            case null -> context.status(response.status());
            case ApiResponse.Content.Document document -> send(context, response, document.type(), bytes);
            case ApiResponse.Content.Stream stream -> send(context, response.status(), stream);
            case ApiResponse.Content.Live live -> send(context, response.status(), live);
        }
        if (!whole) {
            linger(context, rest);
        }
    }

    /**
     * Sends the response and drains the request body for a while, because closing earlier would reset the connection. A
     * client whose connection is reset may never see the response.
     */
    private static void linger(Context context, TimedInputStream rest) throws IOException {
        InputStream pending = context.resultInputStream();
        if (pending != null) {
            byte[] bytes = pending.readAllBytes();
            context.result(InputStream.nullInputStream());
            context.res().setContentLength(bytes.length);
            context.res().getOutputStream().write(bytes);
        }
        context.res().flushBuffer();
        rest.hurry();
        drained(rest, MAX_LINGERED);
    }

    /**
     * Reads the rest of the request's body up to a limit, because the next request on the connection follows it. False
     * if there is more; then the connection must be closed and the client notified.
     */
    private static boolean drained(InputStream rest, int most) {
        byte[] buffer = new byte[BUFFER];
        try {
            for (int left = most; left > 0;) {
                int read = rest.read(buffer);
                if (read < 0) {
                    return true;
                }
                left -= read;
            }
        } catch (IOException | ApiProblem e) {
            LOG.debug("could not read the rest of a request body", e);
        }
        return false;
    }

    private static void send(Context context, ApiResponse response, String type, byte[] bytes) throws IOException {
        if (!response.headers().containsKey("Cache-Control")) {
            context.header("Cache-Control", "private, no-cache");
        }
        if (response.tagged()) {
            String tag = response.version().isEmpty() ? ETag.of(bytes) : ETag.of(response.version(), bytes);
            context.header("ETag", tag);
            boolean reads = context.method() == HandlerType.GET || context.method() == HandlerType.HEAD;
            if (reads && ETag.matches(context.header("If-None-Match"), tag)) {
                context.status(304);
                return;
            }
        }
        context.status(response.status()).contentType(type).result(Compression.of(context, bytes));
    }

    private static void send(Context context, int status, ApiResponse.Content.Stream stream) throws IOException {
        try (InputStream bytes = stream.bytes()) {
            context.status(status).contentType(stream.type());
            if (stream.length() >= 0) {
                context.res().setContentLengthLong(stream.length());
                copy(bytes, context.outputStream(), stream.length());
            } else {
                inChunks(context);
                bytes.transferTo(context.outputStream());
            }
        } catch (IOException | RuntimeException e) {
            abort(context, e);
            throw e;
        }
    }

    private static void copy(InputStream bytes, OutputStream out, long length) throws IOException {
        byte[] buffer = new byte[BUFFER];
        long left = length;
        for (int read; left > 0 && (read = bytes.read(buffer, 0, (int) Math.min(left, BUFFER))) >= 0; left -= read) {
            out.write(buffer, 0, read);
        }
    }

    private static void send(Context context, int status, ApiResponse.Content.Live live) {
        context.status(status).contentType(live.type());
        if (context.method() == HandlerType.HEAD) {
            return;
        }
        context.res().setBufferSize(BUFFER);
        inChunks(context);
        try {
            boundSendBuffer(context);
            live.writer().writeTo(context.res().getOutputStream());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.debug("client of {} disconnected", context.path(), e);
        } catch (RuntimeException e) {
            abort(context, e);
            throw e;
        }
    }

    private static void boundSendBuffer(Context context) throws IOException {
        if (ServletContextRequest.getServletContextRequest(context.req()).getConnectionMetaData().getConnection()
                .getEndPoint() instanceof WatchedConnector.EndPoint connection) {
            connection.boundSendBuffer(STREAM_SEND_BUFFER);
        }
    }

    /** Also with {@code Connection: close}, as the end of an answer that breaks off would otherwise equal that of a whole one. */
    private static void inChunks(Context context) {
        if (context.req().getProtocol().equals("HTTP/1.1")) {
            context.header("Transfer-Encoding", "chunked");
        }
    }

    /** An aborted answer must not look complete. */
    private static void abort(Context context, Exception failure) {
        if (context.res().isCommitted()) {
            LOG.warn("{} failed while the response was sent: {}", context.path(), failure.toString());
            ServletContextRequest.getServletContextRequest(context.req()).getServletChannel().abort(failure);
        }
    }
}
