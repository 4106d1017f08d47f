package io.keelson.cli.common;

import java.io.Console;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks questions at the terminal. For one thread. The console only reads: while it does, it keeps its own writer
 * locked.
 */
public final class Prompt {

    /** How a question ended. */
    public enum Answer {
        YES, NO,
        /** The terminal was closed instead. */
        NONE,
        /** The question was no longer open. */
        OVERTAKEN
    }

    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

    /** The line that is being read; a terminal cannot take back a read that waits. */
    private static @Nullable FutureTask<@Nullable String> reading;

    private Prompt() {}

    /** Null when the terminal was closed instead of an answer. */
    public static @Nullable Boolean ask(PrintWriter out, String question) {
        return switch (ask(out, question, () -> true)) {
            case YES -> true;
            case NO -> false;
            case NONE, OVERTAKEN -> null;
        };
    }

    /** @param open is asked about once a second, until there is an answer, whether the question still is */
    public static Answer ask(PrintWriter out, String question, BooleanSupplier open) {
        Console console = System.console();
        if (console == null) {
            return Answer.NONE;
        }
        while (true) {
            out.print(question + " [y/n] ");
            out.flush();
            // Input that began under another question does not answer this one.
            boolean older = reading != null;
            while (!arrived(console)) {
                if (!open.getAsBoolean()) {
                    out.println();
                    return Answer.OVERTAKEN;
                }
            }
            String answer = taken();
            if (answer == null) {
                return Answer.NONE;
            }
            if (older) {
                out.println("That line was started for an earlier question. Please answer this one.");
                continue;
            }
            switch (answer.strip().toLowerCase(Locale.ROOT)) {
                case "y", "yes" -> {
                    return Answer.YES;
                }
                case "n", "no" -> {
                    return Answer.NO;
                }
                default -> out.println("Please answer y to approve or n to reject; Ctrl-D decides later.");
            }
        }
    }

    /** Waits a moment for a line; false while there is none. */
    private static boolean arrived(Console console) {
        FutureTask<@Nullable String> read = reading;
        if (read == null) {
            read = new FutureTask<>(console::readLine);
            reading = read;
            Thread.ofPlatform().daemon().name("keelson-prompt").start(read);
        }
        try {
            read.get(POLL_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CliException.failed("INTERRUPTED", "interrupted", e);
        }
    }

    /** The line that has arrived; null at the end of the input. */
    private static @Nullable String taken() {
        FutureTask<@Nullable String> read = reading;
        reading = null;
        return read == null ? null : read.resultNow();
    }
}
