package io.keelson.bench.lab;

import io.keelson.bench.lab.ProcessTable.Entry;
import java.io.IOException;
import java.util.List;

/** Limits each of several process trees to a share of a processor until it is closed. */
public sealed interface ProcessorLimit extends AutoCloseable permits CgroupLimit, StopLimit {

    /**
     * Limits the trees by the kernel if a hierarchy of cgroups can be written, else by signals.
     *
     * @param roots ids of processes
     * @param share of one processor, for each tree
     */
    static ProcessorLimit of(List<Long> roots, double share) throws IOException {
        for (Cgroups hierarchy : Cgroups.all()) {
            try {
                return new CgroupLimit(hierarchy, roots, share);
            } catch (IOException e) {
                // Without the privilege, or with a hierarchy that has no controller of processors: the next way.
            }
        }
        return new StopLimit(roots, share);
    }

    /** The ids of a process and its descendants. */
    static List<Long> tree(long root) throws IOException {
        return ProcessTable.now().tree(root).stream().map(Entry::id).toList();
    }

    /** The means of the limit, for the report. */
    String means();

    /** Ends the limit. */
    @Override
    void close() throws InterruptedException;
}
