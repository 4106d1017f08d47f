package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.ServerLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderSpaceTest {
    @TempDir
    Path folder;

    @Test
    void eachPassedBoundIsLoggedOnce() throws Exception {
        Path file = folder.resolve("log");
        AtomicLong free = new AtomicLong(5_000_000_000L);
        try (ServerLog _ = ServerLog.into(file);
                DataFolderSpace space = new DataFolderSpace(folder, free::get, () -> 500_000_000_000L)) {
            for (long bytes : new long[] {5_000_000_000L, 900_000_000, 800_000_000, 90_000_000, 0, 700_000_000,
                    2_000_000_000, 3_000_000_000L}) {
                free.set(bytes);
                space.look();
            }
        }
        String logger = " io.keelson.server.app.DataFolderSpace - ";
        String disk = " MB left on the disk of " + folder;
        assertThat(Files.readAllLines(file)).filteredOn(line -> line.contains(disk)).containsExactly(
                "WARN" + logger + "900" + disk + ": free space before runs are refused",
                "ERROR" + logger + "90" + disk
                        + ": free space now. Runs are refused when it is full, and the embedded PostgreSQL ends",
                "WARN" + logger + "700" + disk + ": free space before runs are refused",
                "INFO" + logger + "2,000" + disk);
    }

    @Test
    void smallDiskIsLowWhenAFifthIsLeft() {
        assertThat(DataFolderSpace.lowBytes(64_000_000)).isEqualTo(12_800_000);
        assertThat(DataFolderSpace.criticalBytes(64_000_000)).isEqualTo(1_280_000);
        assertThat(DataFolderSpace.lowBytes(20L << 30)).isEqualTo(1L << 30);
        assertThat(DataFolderSpace.criticalBytes(20L << 30)).isEqualTo(100L << 20);
    }
}
