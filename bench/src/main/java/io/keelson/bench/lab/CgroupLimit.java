package io.keelson.bench.lab;

import io.keelson.bench.lab.ProcessTable.Entry;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Limits trees by the kernel: each has a cgroup with a quota of processor time in each period. The groups are removed when the limit is
 * closed, or when this process ends in any way.
 */
final class CgroupLimit implements ProcessorLimit {
    /** So short that a commit of the database spans it; a quota must be at least 1 ms. */
    private static final long PERIOD_MICROS = 10_000;
    private static final long LEAST_QUOTA_MICROS = 1_000;
    /**
     * Waits for the end of its input, which is the end of this process at the latest. Ctrl-C reaches the shell, too. A group with processes
     * cannot be removed.
     */
    private static final String REMOVE = """
            trap '' INT TERM HUP
            root=$1; shift; read -r _
            for group do
                for process in $(cat "$group/cgroup.procs"); do echo "$process" >"$root/cgroup.procs"; done
                rmdir "$group"
            done
            """;

    private final Cgroups hierarchy;
    private final long period;
    private final Process remover;

    CgroupLimit(Cgroups hierarchy, List<Long> roots, double share) throws IOException {
        this.hierarchy = hierarchy;
        period = Math.max(PERIOD_MICROS, (long) Math.ceil(LEAST_QUOTA_MICROS / share));
        List<Path> groups = new ArrayList<>();
        try {
            for (long root : roots) {
                groups.add(hierarchy.limited(name(root), share, period));
            }
            remover = remover(groups);
        } catch (IOException e) {
            for (Path group : groups) {
                Files.delete(group);
            }
            throw e;
        }
        try {
            for (int i = 0; i < groups.size(); i++) {
                for (long process : ProcessorLimit.tree(roots.get(i))) {
                    Files.writeString(groups.get(i).resolve("cgroup.procs"), Long.toString(process));
                    exemptCompilers(process);
                }
            }
        } catch (IOException e) {
            remove();
            throw e;
        }
    }

    static String name(long root) {
        return "keelson-bench-" + ProcessHandle.current().pid() + "-" + root;
    }

    /** Only in version 1: it admits threads of a process in different groups. */
    private void exemptCompilers(long process) throws IOException {
        if (!hierarchy.unified()) {
            for (Entry compiler : ProcessTable.compilers(process)) {
                Files.writeString(hierarchy.root().resolve("tasks"), Long.toString(compiler.id()));
            }
        }
    }

    private Process remover(List<Path> groups) throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", REMOVE, "sh", hierarchy.root().toString()));
        groups.forEach(group -> command.add(group.toString()));
        return new ProcessBuilder(command).redirectError(Redirect.DISCARD).redirectOutput(Redirect.DISCARD).start();
    }

    @Override
    public String means() {
        return hierarchy.title() + " in periods of " + period / 1_000 + " ms"
                + (hierarchy.unified() ? ", compilers included" : ", without compilers");
    }

    @Override
    public void close() throws InterruptedException {
        remove();
        remover.waitFor();
    }

    private void remove() {
        try {
            remover.getOutputStream().close();
        } catch (IOException e) {
            // It has ended.
        }
    }
}
