package io.keelson.bench.lab;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The machine's processes or a process's threads at one moment, from {@code /proc}. */
final class ProcessTable {
    static final Path PROC = Path.of("/proc");

    private final Map<Long, Entry> entries = new HashMap<>();
    private final Map<Long, List<Entry>> children = new HashMap<>();

    /**
     * A process or a thread.
     *
     * @param name of its program or thread, cut to 15 characters by Linux
     * @param ticks its processor time in clock ticks
     * @param kernel processor time in the kernel
     * @param children processor time of ended children that its process has waited for, in clock ticks
     */
    record Entry(long id, long parent, String name, long ticks, long kernel, long children) {

        /** Reads an entry; null if the process has just ended. */
        static @Nullable Entry read(Path folder) {
            try {
                String line = Files.readString(folder.resolve("stat"));
                int open = line.indexOf('(');
                int close = line.lastIndexOf(')');
                String[] fields = line.substring(close + 2).split(" ");
                return new Entry(Long.parseLong(line.substring(0, open - 1)), Long.parseLong(fields[1]),
                        line.substring(open + 1, close), Long.parseLong(fields[11]) + Long.parseLong(fields[12]),
                        Long.parseLong(fields[12]),
                        Long.parseLong(fields[13]) + Long.parseLong(fields[14]));
            } catch (IOException e) {
                return null;
            }
        }
    }

    private ProcessTable(Collection<Entry> all) {
        for (Entry entry : all) {
            entries.put(entry.id, entry);
            children.computeIfAbsent(entry.parent, parent -> new ArrayList<>()).add(entry);
        }
    }

    /** @throws IOException without {@code /proc} */
    static ProcessTable now() throws IOException {
        return new ProcessTable(in(PROC));
    }

    /** The threads of a process; empty if it has ended. */
    static List<Entry> threads(long process) {
        try {
            return in(PROC.resolve(Long.toString(process)).resolve("task"));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The threads of a JVM that compile its code; empty if it has ended. */
    static List<Entry> compilers(long process) {
        return threads(process).stream()
                .filter(thread -> thread.name().startsWith("C1 Comp") || thread.name().startsWith("C2 Comp"))
                .toList();
    }

    private static List<Entry> in(Path folder) throws IOException {
        List<Entry> found = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(folder, "[0-9]*")) {
            folders.forEach(each -> found.add(Entry.read(each)));
        }
        return found.stream().filter(Objects::nonNull).toList();
    }

    /** Processor time of processes, in clock ticks, with that of their ended children. */
    static long ticks(List<Entry> processes) {
        return processes.stream().mapToLong(each -> each.ticks + each.children).sum();
    }

    /** Processor time of processes in the kernel, in clock ticks, without that of their ended children. */
    static long kernelTicks(List<Entry> processes) {
        return processes.stream().mapToLong(Entry::kernel).sum();
    }

    /** The process and its descendants; empty when it has ended. */
    List<Entry> tree(long process) {
        List<Entry> found = new ArrayList<>();
        Deque<Entry> open = new ArrayDeque<>();
        Entry root = entries.get(process);
        if (root != null) {
            open.add(root);
        }
        while (!open.isEmpty()) {
            Entry next = open.remove();
            found.add(next);
            open.addAll(children.getOrDefault(next.id, List.of()));
        }
        return found;
    }
}
