package io.keelson.server.engine.store.read;

import io.keelson.server.engine.store.read.RunReader.BadCursorException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Base64;
import java.util.UUID;

/** The end of a page of runs: the last run's position in the order of creation. Opaque to clients. */
record Cursor(Instant createdAt, UUID id) {

    static Cursor parse(String text) {
        try {
            String[] parts = new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8).split("/", -1);
            if (parts.length != 2) {
                throw new BadCursorException();
            }
            return new Cursor(Instant.parse(parts[0]), UUID.fromString(parts[1]));
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new BadCursorException();
        }
    }

    String text() {
        return Base64.getUrlEncoder().withoutPadding()
                .encodeToString((createdAt + "/" + id).getBytes(StandardCharsets.UTF_8));
    }
}
