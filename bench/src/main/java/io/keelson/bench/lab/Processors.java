package io.keelson.bench.lab;

import java.io.IOException;
import java.nio.file.Files;

/**
 * The machine's processor time up to a moment, and the part of this process and its descendants, in clock ticks. Reads
 * {@code /proc}; on a system without it, all values are 0.
 */
public record Processors(long busy, long total, long own) {
    public static Processors now() {
        try {
            String[] ticks = Files.readAllLines(ProcessTable.PROC.resolve("stat")).getFirst().trim().split("\\s+");
            long idle = Long.parseLong(ticks[4]) + Long.parseLong(ticks[5]);
            long total = 0;
            // user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user time already
            for (int i = 1; i <= 8; i++) {
                total += Long.parseLong(ticks[i]);
            }
            return new Processors(total - idle, total, ownTree());
        } catch (IOException e) {
            return new Processors(0, 0, 0);
        }
    }

    /** Percent of all processors' time since then that went to others than us; NaN where that is not known. */
    public double othersSince(Processors before) {
        long time = total - before.total;
        return time <= 0 ? Double.NaN
                : Math.max(0, 100.0 * (busy - before.busy - (own - before.own)) / time);
    }

    private static long ownTree() throws IOException {
        return ProcessTable.ticks(ProcessTable.now().tree(ProcessHandle.current().pid()));
    }
}
