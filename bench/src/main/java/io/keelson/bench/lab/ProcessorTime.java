package io.keelson.bench.lab;

import io.keelson.bench.lab.ProcessTable.Entry;
import java.io.IOException;
import java.util.List;

/**
 * Processor time that a contender has used so far, in milliseconds; NaN where there is no {@code /proc}.
 *
 * @param database PostgreSQL's processes
 * @param servers processes that the contender has started, without their compilers
 * @param client the contender's own process, without its compilers
 * @param compilers the time that the JVMs of both have spent on compiling
 * @param databaseKernel the part of {@code database} in the kernel
 * @param clientKernel the part of the contender's own process in the kernel
 */
public record ProcessorTime(double database, double servers, double client, double compilers, double databaseKernel,
        double clientKernel) {
    /** Clock ticks in {@code /proc} are hundredths of a second ({@code USER_HZ}). */
    private static final double TICK_MS = 10;

    private static final ProcessorTime UNKNOWN =
            new ProcessorTime(Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);

    static ProcessorTime of(long contender) {
        try {
            ProcessTable table = ProcessTable.now();
            List<Entry> contenders = table.tree(contender);
            List<Entry> own = contenders.stream().filter(each -> each.id() == contender).toList();
            long client = ProcessTable.ticks(own);
            long servers = ProcessTable.ticks(contenders) - client;
            long clientCompilers = compilers(contender);
            long serverCompilers = contenders.stream().filter(each -> each.id() != contender)
                    .mapToLong(each -> compilers(each.id())).sum();
            List<Entry> postgres = table.tree(ProcessHandle.current().pid()).stream()
                    .filter(each -> each.name().equals("postgres")).toList();
            return new ProcessorTime(ProcessTable.ticks(postgres) * TICK_MS, (servers - serverCompilers) * TICK_MS,
                    (client - clientCompilers) * TICK_MS, (clientCompilers + serverCompilers) * TICK_MS,
                    ProcessTable.kernelTicks(postgres) * TICK_MS, ProcessTable.kernelTicks(own) * TICK_MS);
        } catch (IOException e) {
            return UNKNOWN;
        }
    }

    private static long compilers(long process) {
        return ProcessTable.compilers(process).stream().mapToLong(Entry::ticks).sum();
    }

    public ProcessorTime since(ProcessorTime before) {
        return new ProcessorTime(database - before.database, servers - before.servers, client - before.client,
                compilers - before.compilers, databaseKernel - before.databaseKernel,
                clientKernel - before.clientKernel);
    }

    /** Of each of so many runs. */
    public ProcessorTime dividedBy(double runs) {
        return new ProcessorTime(database / runs, servers / runs, client / runs, compilers / runs,
                databaseKernel / runs,
                clientKernel / runs);
    }
}
