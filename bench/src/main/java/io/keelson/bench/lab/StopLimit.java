package io.keelson.bench.lab;

import io.keelson.bench.lab.ProcessTable.Entry;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Limits each of several process trees to a share of a processor, as a duty cycle: SIGSTOP when a tree has used more processor
 * time than its share, SIGCONT when its share has caught up. Needs no privileges and no cgroups, only {@code /proc} and a shell.
 * A tree cannot save up: time in which it used less than its share is lost but for 20 ms.
 */
final class StopLimit implements ProcessorLimit {
    /** {@code /proc} counts processor time in steps of 10 ms. */
    private static final long LOOK_MS = 5;
    private static final double TICK_MS = 10;
    private static final double BURST_MS = 20;
    private static final double NANOS_PER_MILLI = 1e6;
    /** At the end of its input, which is the end of this process at the latest, all go on. */
    private static final String SIGNALS =
            "while read -r signal process; do kill -s $signal $process; done; kill -s CONT ";

    private final List<Limited> trees = new ArrayList<>();
    private final double share;
    private final Process shell;
    private final PrintWriter kill;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;

    /** One of the trees. Used by one thread. */
    private final class Limited {
        private final List<Long> processes;
        private double used;
        /** Processor time that it may still use, in milliseconds. */
        private double left = BURST_MS;
        private boolean stopped;

        private Limited(long root) throws IOException {
            processes = ProcessorLimit.tree(root);
            used = usedMs();
        }

        private double usedMs() {
            return processes.stream().map(id -> Entry.read(ProcessTable.PROC.resolve(Long.toString(id))))
                    .mapToDouble(entry -> entry == null ? 0 : entry.ticks() * TICK_MS).sum();
        }

        private void look(double passedMs) {
            double now = usedMs();
            left = Math.min(BURST_MS, left + passedMs * share - (now - used));
            used = now;
            if (left < 0 != stopped) {
                stopped = !stopped;
                signal(stopped ? "STOP" : "CONT");
            }
        }

        private void signal(String name) {
            processes.forEach(id -> kill.println(name + " " + id));
            kill.flush();
        }
    }

    /**
     * Limits the trees until it is closed.
     *
     * @param roots ids of processes
     * @param share of one processor, for each tree
     */
    StopLimit(List<Long> roots, double share) throws IOException {
        this.share = share;
        for (long root : roots) {
            trees.add(new Limited(root));
        }
        String all = trees.stream().flatMap(tree -> tree.processes.stream()).map(String::valueOf)
                .collect(Collectors.joining(" "));
        shell = new ProcessBuilder("sh", "-c", SIGNALS + all).redirectError(Redirect.DISCARD).start();
        kill = new PrintWriter(shell.outputWriter(StandardCharsets.UTF_8));
        thread = Thread.ofPlatform().name("processor-limit").start(this::limit);
    }

    private void limit() {
        long before = System.nanoTime();
        try {
            while (!closing.await(LOOK_MS, TimeUnit.MILLISECONDS)) {
                long now = System.nanoTime();
                double passed = (now - before) / NANOS_PER_MILLI;
                before = now;
                trees.forEach(tree -> tree.look(passed));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String means() {
        return "signals, looked at every " + LOOK_MS + " ms";
    }

    /** Lets all processes go on. */
    @Override
    public void close() throws InterruptedException {
        closing.countDown();
        thread.join();
        kill.close();
        shell.waitFor();
    }
}
