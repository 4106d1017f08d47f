package io.keelson.server.http;

import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;

/** Puts an answer on the wire. */
final class Sender {

    private Sender() {}

    static void send(Context context, Answer answer) throws IOException {
        answer.headers().forEach(context::header);
        context.header("X-Content-Type-Options", "nosniff");
        switch (answer.content()) {
            case null -> context.status(answer.status());
            case Answer.Content.Document document -> send(context, answer, document);
            case Answer.Content.Stream stream -> send(context, answer.status(), stream);
        }
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
