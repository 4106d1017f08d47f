package io.keelson.cli.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Passes the lines of a program's standard error on while they arrive, and keeps the last ones, and the first line of the last
 * exception.
 */
final class ProgramLog {

    private static final int LAST_LINES = 20;
    private static final int MAX_LINE = 4_000;
    private static final int MAX_TEXT = 2_000;
    private static final int MAX_FIRST = 400;

    /** The first line of an exception of Python, Java, Node, Go, Rust and others. */
    private static final Pattern EXCEPTION = Pattern.compile(
            "Traceback \\(most recent call last\\).*|Exception in thread .*|Uncaught .*|panic: .*|thread '.*' panicked.*"
                    + "|(\\w+[.:])*\\w*(Error|Exception)\\b.*");

    private final Deque<String> last = new ArrayDeque<>();
    /** Null unless an exception begins before the last lines. */
    private @Nullable String exception;
    private final Thread reader;

    /**
     * @param masked removes what must not leave this machine
     * @param lines receives each line, cut at 4,000 characters
     */
    ProgramLog(InputStream stderr, UnaryOperator<String> masked, Consumer<String> lines) {
        reader = Thread.ofVirtual().name("program-log").start(() -> read(stderr, masked, lines));
    }

    private void read(InputStream stderr, UnaryOperator<String> masked, Consumer<String> lines) {
        try (BufferedReader text = new BufferedReader(new InputStreamReader(stderr, StandardCharsets.UTF_8))) {
            StringBuilder line = new StringBuilder();
            for (int c = text.read(); c >= 0; c = text.read()) {
                if (c != '\n' && line.length() < MAX_LINE) {
                    line.append((char) c);
                } else {
                    pass(masked.apply(line.toString()), lines);
                    line.setLength(0);
                    if (c != '\n') {
                        line.append((char) c);
                    }
                }
            }
            if (!line.isEmpty()) {
                pass(masked.apply(line.toString()), lines);
            }
        } catch (IOException e) {
            // the program was killed
        }
    }

    private void pass(String line, Consumer<String> lines) {
        synchronized (last) {
            last.addLast(line);
            if (last.size() > LAST_LINES) {
                removeFirst();
            }
        }
        lines.accept(line);
    }

    private void removeFirst() {
        String line = last.removeFirst();
        exception = EXCEPTION.matcher(line).matches() ? line : exception;
    }

    /**
     * Waits for the end of the standard error, and returns the last exception and lines, at most 2,000 characters; empty if
     * there are none.
     */
    String awaitLast() throws InterruptedException {
        reader.join();
        synchronized (last) {
            while (last.size() > 1 && last.stream().mapToInt(line -> line.length() + 1).sum() > MAX_TEXT) {
                removeFirst();
            }
            String text = String.join("\n", last).stripTrailing();
            int most = MAX_TEXT - (exception == null ? 0 : Math.min(exception.length(), MAX_FIRST));
            return (exception == null ? "" : exception.substring(0, Math.min(exception.length(), MAX_FIRST)) + "\n…\n")
                    + (text.length() <= most ? text : "…" + text.substring(text.length() - most));
        }
    }
}
