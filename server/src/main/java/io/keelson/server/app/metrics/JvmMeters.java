package io.keelson.server.app.metrics;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.concurrent.TimeUnit;

/** Meters of the process, under the names that dashboards for Java programs use. */
final class JvmMeters {

    private JvmMeters() {}

    static void register(Meters meters) {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        meters.gauge(Metric.MEMORY, () -> memory.getHeapMemoryUsage().getUsed(), "heap");
        meters.gauge(Metric.MEMORY, () -> memory.getNonHeapMemoryUsage().getUsed(), "nonheap");
        meters.gauge(Metric.MEMORY_MOST, () -> memory.getHeapMemoryUsage().getMax(), "heap");
        meters.gauge(Metric.MEMORY_MOST, () -> memory.getNonHeapMemoryUsage().getMax(), "nonheap");
        for (GarbageCollectorMXBean each : ManagementFactory.getGarbageCollectorMXBeans()) {
            meters.counter(Metric.COLLECTIONS, each::getCollectionCount, each.getName());
            meters.counter(Metric.COLLECTION_TIME, () -> each.getCollectionTime() / 1e3, each.getName());
        }
        meters.gauge(Metric.THREADS, ManagementFactory.getThreadMXBean()::getThreadCount);
        meters.gauge(Metric.STARTED, () -> ManagementFactory.getRuntimeMXBean().getStartTime() / 1e3);
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        meters.counter(Metric.CPU, () -> (double) system.getProcessCpuTime() / TimeUnit.SECONDS.toNanos(1));
        if (system instanceof UnixOperatingSystemMXBean unix) {
            meters.gauge(Metric.FILES, unix::getOpenFileDescriptorCount);
        }
    }
}
