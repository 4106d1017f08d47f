package io.keelson.bench.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keelson.bench.server.Poll;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class ProcessorLimitTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** The program that uses a processor is a child of the limited process. */
    @Test
    void aTreeAboveItsShareIsStoppedUntilTheLimitIsClosed() throws Exception {
        Process shell = new ProcessBuilder("sh", "-c", "sh -c 'while :; do :; done'; true").start();
        try {
            Poll.until(PATIENCE, () -> shell.children().findAny().isPresent());
            long busy = shell.children().findFirst().orElseThrow().pid();
            try (ProcessorLimit _ = new StopLimit(List.of(shell.pid()), 0.001)) {
                Poll.until(PATIENCE, () -> state(busy) == 'T' && state(shell.pid()) == 'T');
            }
            assertThat(state(busy)).isNotEqualTo('T');
            assertThat(state(shell.pid())).isNotEqualTo('T');
        } finally {
            shell.descendants().forEach(ProcessHandle::destroyForcibly);
            shell.destroyForcibly();
        }
    }

    /** If cgroups can be written, as by root on most machines. */
    @Test
    void aTreeIsInAGroupWithAQuotaUntilTheLimitIsClosed() throws Exception {
        Process shell = new ProcessBuilder("sh", "-c", "sh -c 'while :; do :; done'; true").start();
        try {
            Poll.until(PATIENCE, () -> shell.children().findAny().isPresent());
            long busy = shell.children().findFirst().orElseThrow().pid();
            String before = groups(busy);
            Path group;
            try (ProcessorLimit limit = ProcessorLimit.of(List.of(shell.pid()), 0.1)) {
                assumeTrue(limit instanceof CgroupLimit, limit.means());
                group = Cgroups.all().stream().map(each -> each.root().resolve(CgroupLimit.name(shell.pid())))
                        .filter(Files::exists).findFirst().orElseThrow();
                assertThat(groups(busy)).contains(CgroupLimit.name(shell.pid()));
                Poll.until(PATIENCE, () -> throttled(group) > 0);
            }
            assertThat(group).doesNotExist();
            assertThat(groups(busy)).isEqualTo(before);
        } finally {
            shell.descendants().forEach(ProcessHandle::destroyForcibly);
            shell.destroyForcibly();
        }
    }

    private static String groups(long process) throws IOException {
        return Files.readString(Path.of("/proc", Long.toString(process), "cgroup"));
    }

    /** Periods in which the group has used its quota. */
    private static long throttled(Path group) {
        try {
            return Files.readAllLines(group.resolve("cpu.stat")).stream()
                    .filter(line -> line.startsWith("nr_throttled "))
                    .mapToLong(line -> Long.parseLong(line.split(" ")[1])).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The state of a process: {@code R} or {@code S}, or {@code T} while it is stopped. */
    private static char state(long process) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(process), "stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
