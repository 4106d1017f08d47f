package io.keelson.server.base.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalArtifactStoreTest extends ArtifactStoreContract {

    @TempDir
    Path folder;

    @Override
    protected LocalArtifactStore store() throws IOException {
        return new LocalArtifactStore(folder.resolve("artifacts"), MAX);
    }

    @Test
    void keysContainTheOwner() throws IOException {
        assertThat(store().put(OWNER, "a.txt", "text/plain", bytes("abc")).storageKey())
                .startsWith(OWNER.workspaceId() + "/" + OWNER.runId()).contains("/2-7/");
    }

    @Test
    void foldersAreTheOwnersAlone() throws IOException {
        store().put(OWNER, "a.txt", "text/plain", bytes("abc"));
        try (Stream<Path> all = Files.walk(folder.resolve("artifacts"))) {
            for (Path each : all.filter(Files::isDirectory).toList()) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(each))).as(each.toString())
                        .isEqualTo("rwx------");
            }
        }
    }

    @Test
    void deletedArtifactLeavesNoFile() throws IOException {
        LocalArtifactStore store = store();
        store.delete(store.put(OWNER, "a.txt", "text/plain", bytes("abc")).storageKey());
        try (Stream<Path> left = Files.list(folder.resolve("artifacts"))) {
            assertThat(left).extracting(Path::getFileName).extracting(Path::toString).containsExactly("incoming");
        }
    }

    /** A start removes staged files of processes that have ended, and no file that is being written. */
    @Test
    void startRemovesStagedFilesOfEndedProcessesOnly() throws IOException {
        Path dead = Files.createDirectories(folder.resolve("artifacts/incoming/dead"));
        Files.writeString(dead.resolve("lock"), "");
        Files.writeString(dead.resolve("half"), "half a file");
        Files.writeString(folder.resolve("artifacts/incoming/of-an-earlier-version"), "half a file");
        LocalArtifactStore living = store();
        assertThat(incoming()).isEmpty();

        AtomicReference<List<Path>> during = new AtomicReference<>();
        living.put(OWNER, "a.txt", "text/plain", new InputStream() {
            private int left = 3;

            @Override
            public int read() throws IOException {
                if (--left == 0) {
                    store();
                    during.set(incoming());
                }
                return left <= 0 ? -1 : 'x';
            }
        });
        assertThat(during.get()).hasSize(1);
        assertThat(incoming()).isEmpty();
    }

    /** Each start removes leftovers while others have created their staging folder and not locked it yet. */
    @Test
    void concurrentStartsKeepEachOthersStagingFolders() throws Exception {
        store();
        for (int round = 0; round < 20; round++) {
            try (ExecutorService starts = Executors.newVirtualThreadPerTaskExecutor()) {
                List<Future<LocalArtifactStore>> stores = Stream.generate(() -> starts.submit(this::store)).limit(16)
                        .toList();
                for (Future<LocalArtifactStore> each : stores) {
                    LocalArtifactStore store = each.get();
                    String key = store.put(OWNER, "a.txt", "text/plain", bytes("abc")).storageKey();
                    try (InputStream content = store.open(key)) {
                        assertThat(content).as("round %s", round).hasContent("abc");
                    }
                }
            }
        }
    }

    private List<Path> incoming() throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("artifacts/incoming"))) {
            return files.filter(Files::isRegularFile).filter(file -> !file.endsWith("lock")).toList();
        }
    }
}
