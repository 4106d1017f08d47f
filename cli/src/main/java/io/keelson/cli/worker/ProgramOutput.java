package io.keelson.cli.worker;

import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.StepFailure;
import io.keelson.server.base.json.OutsideJson;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Reads the standard output of a program on a thread of its own, up to a bound, and makes the step's output of it. */
final class ProgramOutput {

    /** How the standard output becomes the step's output. */
    enum Form {
        /** JSON if all of it is one JSON document, else text. */
        AUTO,
        /** JSON; anything else fails the step. */
        JSON,
        /** A string, without its last line break. */
        TEXT
    }

    /** The server accepts no longer output. */
    static final int MAX_BYTES = 1 << 20;

    private static final int MAX_MESSAGE = 1_000;

    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final Thread reader;
    private volatile boolean tooLong;

    /** @param onTooLong called once when the program has written more than the bound */
    ProgramOutput(InputStream stdout, Runnable onTooLong) {
        reader = Thread.ofVirtual().name("program-output").start(() -> read(stdout, onTooLong));
    }

    private void read(InputStream stdout, Runnable onTooLong) {
        byte[] buffer = new byte[1 << 14];
        try (stdout) {
            for (int n = stdout.read(buffer); n >= 0; n = stdout.read(buffer)) {
                int room = Math.min(n, MAX_BYTES - kept.size());
                kept.write(buffer, 0, room);
                if (room < n && !tooLong) {
                    tooLong = true;
                    onTooLong.run();
                }
            }
        } catch (IOException e) {
            // the program was killed: its result does not count
        }
    }

    /** Waits for the end of the standard output; true if it is longer than the bound. */
    boolean awaitEnd() throws InterruptedException {
        reader.join();
        return tooLong;
    }

    /** The end of the standard output for a message, after {@link #awaitEnd()}; at most 1,000 characters, may be empty. */
    String last(UnaryOperator<String> masked) {
        String text = masked.apply(kept.toString(StandardCharsets.UTF_8)).strip();
        return text.length() <= MAX_MESSAGE ? text : "…" + text.substring(text.length() - MAX_MESSAGE);
    }

    /**
     * The step's output, after {@link #awaitEnd()}.
     *
     * @param masked removes what must not leave this machine
     * @throws StepFailure {@code PROGRAM_OUTPUT_INVALID} when JSON is demanded and it is not JSON
     */
    JsonNode value(Form form, UnaryOperator<String> masked) throws StepFailure {
        String text = masked.apply(kept.toString(StandardCharsets.UTF_8));
        if (form != Form.TEXT) {
            if (text.isBlank() && form == Form.AUTO) {
                return JsonNodeFactory.instance.nullNode();
            }
            try {
                return OutsideJson.read(text.getBytes(StandardCharsets.UTF_8));
            } catch (JacksonException e) {
                if (form == Form.JSON) {
                    throw new StepFailure("PROGRAM_OUTPUT_INVALID", ErrorClass.QUALITY,
                            "the standard output is not one JSON document: " + e.getOriginalMessage());
                }
            }
        }
        return JsonNodeFactory.instance.stringNode(text.endsWith("\n") ? text.substring(0, text.length() - 1) : text);
    }
}
