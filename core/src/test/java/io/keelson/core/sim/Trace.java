package io.keelson.core.sim;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

/** What happened, in order: the last lines for people, and a hash of all of them. */
final class Trace {
    private static final int KEPT = 200;

    private final Deque<String> last = new ArrayDeque<>();
    private final Instant start;
    private long hash = 1_125_899_906_842_597L;

    Trace(Instant start) {
        this.start = start;
    }

    void add(Instant now, String who, Object... what) {
        StringBuilder line = new StringBuilder(80).append(Duration.between(start, now).toMillis()).append(" ms ")
                .append(who);
        for (Object part : what) {
            line.append(' ').append(part);
        }
        String text = line.toString();
        for (int i = 0; i < text.length(); i++) {
            hash = 31 * hash + text.charAt(i);
        }
        last.addLast(text);
        if (last.size() > KEPT) {
            last.removeFirst();
        }
    }

    long hash() {
        return hash;
    }

    /** The last lines; of ids only what tells them apart. */
    String tail() {
        return String.join("\n", last).replaceAll("0{8}-0{4}-0{3}[01]-0{4}-0*", "");
    }
}
