package io.keelson.server.engine.live;

/** The text of one execution of a step, for one writer and any number of readers. */
public final class LiveText implements AutoCloseable {
    /** Readers see a longer text up to here only. */
    private static final int MAX_CHARS = 1 << 20;

    private final int epoch;
    private final Runnable onClose;
    private final StringBuilder text = new StringBuilder();

    LiveText(int epoch, Runnable onClose) {
        this.epoch = epoch;
        this.onClose = onClose;
    }

    /** Appends the next part of the text. Does not block. */
    public synchronized void append(String part) {
        text.append(part, 0, Math.min(part.length(), MAX_CHARS - text.length()));
    }

    int epoch() {
        return epoch;
    }

    /** The text behind so many characters; never ends within a character of two. */
    synchronized String after(int seen) {
        int end = text.length();
        if (end > 0 && Character.isHighSurrogate(text.charAt(end - 1))) {
            end--;
        }
        return seen >= end ? "" : text.substring(seen, end);
    }

    /** Ends the text. Readers may still read it to its end. */
    @Override
    public void close() {
        onClose.run();
    }
}
