package io.keelson.server.http;

import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts an answer on the wire. */
final class Sender {

    private static final Logger LOG = LoggerFactory.getLogger(Sender.class);
    private static final int BUFFER = 8 << 10;
    private static final int MOST_DRAINED = 1 << 20;

    private Sender() {}

    static void send(Context context, Answer answer) throws IOException {
        if (!drained(context)) {
            context.header("Connection", "close");
        }
        answer.headers().forEach(context::header);
        context.header("X-Content-Type-Options", "nosniff");
        switch (answer.content()) {
            case null -> context.status(answer.status());
            case Answer.Content.Document document -> send(context, answer, document);
            case Answer.Content.Stream stream -> send(context, answer.status(), stream);
        }
    }

    /**
     * Reads what is left of the request's body, within reason: the next request on the connection stands behind it. False
     * when there is more, so that the connection can serve no further request and its client must be told.
     */
    private static boolean drained(Context context) {
        byte[] buffer = new byte[BUFFER];
        try {
            InputStream body = context.req().getInputStream();
            for (int left = MOST_DRAINED; left > 0;) {
                int read = body.read(buffer);
                if (read < 0) {
                    return true;
                }
                left -= read;
            }
        } catch (IOException e) {
            LOG.debug("the rest of a request did not come", e);
        }
        return false;
    }

    private static void send(Context context, Answer answer, Answer.Content.Document document) {
        byte[] bytes = Json.write(document.json());
        context.header("Cache-Control", "private, no-cache");
        if (answer.tagged()) {
            String tag = ETag.of(bytes);
            context.header("ETag", tag);
            if (ETag.matches(context.header("If-None-Match"), tag)) {
                context.status(304);
                return;
            }
        }
        context.status(answer.status()).contentType(document.type()).result(bytes);
    }

    private static void send(Context context, int status, Answer.Content.Stream stream) throws IOException {
        try (InputStream bytes = stream.bytes()) {
            context.status(status).contentType(stream.type());
            context.res().setContentLengthLong(stream.length());
            bytes.transferTo(context.outputStream());
        }
    }
}
