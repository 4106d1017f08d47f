package io.keelson.bench.lab;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the machine's processors did up to a moment, and how much of it this process and its descendants did, in clock
 * ticks. Reads {@code /proc}; where there is none, nothing is known.
 */
public record Processors(long busy, long total, long own) {
    private static final Path PROC = Path.of("/proc");

    public static Processors now() {
        try {
            String[] ticks = Files.readAllLines(PROC.resolve("stat")).getFirst().trim().split("\\s+");
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

    private record Ticks(long pid, long parent, long ticks) {}

    private static long ownTree() throws IOException {
        Map<Long, List<Ticks>> children = new HashMap<>();
        Deque<Ticks> open = new ArrayDeque<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : processes) {
                Ticks ticks = ticks(process);
                children.computeIfAbsent(ticks.parent, parent -> new ArrayList<>()).add(ticks);
                if (ticks.pid == ProcessHandle.current().pid()) {
                    open.add(ticks);
                }
            }
        }
        long sum = 0;
        while (!open.isEmpty()) {
            Ticks next = open.remove();
            sum += next.ticks;
            open.addAll(children.getOrDefault(next.pid, List.of()));
        }
        return sum;
    }

    /** Its own time and that of the children it waited for; nothing for one that has just ended. */
    private static Ticks ticks(Path process) {
        try {
            String line = Files.readString(process.resolve("stat"));
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
            long ticks = 0;
            for (int i = 11; i <= 14; i++) {
                ticks += Long.parseLong(fields[i]);
            }
            return new Ticks(Long.parseLong(line.substring(0, line.indexOf(' '))), Long.parseLong(fields[1]), ticks);
        } catch (IOException e) {
            return new Ticks(-1, -1, 0);
        }
    }
}
