package io.keelson.server.base.json;

import java.time.Duration;

/** Text that a pattern reads for so long only, and not on a thread that was interrupted. */
public final class TimedText implements CharSequence {

    private static final Duration LIMIT = Duration.ofSeconds(2);
    private static final int READS_BETWEEN_CHECKS = 1 << 12;

    private final String text;
    private final long deadline = System.nanoTime() + LIMIT.toNanos();
    private int reads;

    /** The pattern took too long, or the thread was interrupted, which it still is then. */
    public static final class StoppedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        StoppedException(String message) {
            super(message, null, false, false);
        }
    }

    public TimedText(String text) {
        this.text = text;
    }

    @Override
    public int length() {
        return text.length();
    }

    /** @throws StoppedException when the time is up */
    @Override
    public char charAt(int index) {
        if (++reads % READS_BETWEEN_CHECKS == 0) {
            look();
        }
        return text.charAt(index);
    }

    private void look() {
        if (Thread.currentThread().isInterrupted()) {
            throw new StoppedException("the search for the pattern was interrupted");
        }
        if (System.nanoTime() - deadline > 0) {
            throw new StoppedException("the pattern was searched for longer than " + LIMIT.toSeconds() + " s");
        }
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return text.substring(start, end);
    }

    @Override
    public String toString() {
        return text;
    }
}
