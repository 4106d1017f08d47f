package io.keelson.bench.lab;

import static org.assertj.core.api.Assertions.assertThat;

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
            ProcessorLimit limit = new ProcessorLimit(List.of(shell.pid()), 0.001);
            try (limit) {
                Poll.until(PATIENCE, () -> state(busy) == 'T' && state(shell.pid()) == 'T');
            }
            assertThat(state(busy)).isNotEqualTo('T');
            assertThat(state(shell.pid())).isNotEqualTo('T');
        } finally {
            shell.descendants().forEach(ProcessHandle::destroyForcibly);
            shell.destroyForcibly();
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
