package io.keelson.server.annex.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FullDiskTest {

    @Test
    void failedWriteForLackOfSpaceHasACodeOfItsOwn(@TempDir Path folder) {
        assertThat(DataDirectory.notWritable(folder, write(Path.of("/dev/full"))).code())
                .isEqualTo(Code.DATA_DIR_FULL);
        assertThat(DataDirectory.notWritable(folder, write(folder)).code()).isEqualTo(Code.DATA_DIR_NOT_WRITABLE);
        assertThat(FullDisk.named("FATAL:  could not write to file \"pg_wal/xlogtemp.1\": No space left on device"))
                .isTrue();
        assertThat(FullDisk.at(Path.of("/proc"))).isTrue();
        assertThat(FullDisk.at(folder)).isFalse();
    }

    @Test
    void logTakesAnEighthOfASmallDisk() {
        assertThat(EmbeddedPostgresOptions.lasting(Path.of("data")).settings(4L << 30))
                .containsEntry("max_wal_size", "512MB").containsEntry("min_wal_size", "256MB");
        assertThat(EmbeddedPostgresOptions.lasting(Path.of("data")).settings(1L << 40))
                .containsEntry("max_wal_size", "2048MB");
        assertThat(EmbeddedPostgresOptions.lasting(Path.of("data")).settings(0))
                .containsAllEntriesOf(Map.of("max_wal_size", "128MB", "min_wal_size", "128MB"));
    }

    private static IOException write(Path file) {
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(0);
        } catch (IOException e) {
            return e;
        }
        throw new AssertionError(file + " was written");
    }
}
