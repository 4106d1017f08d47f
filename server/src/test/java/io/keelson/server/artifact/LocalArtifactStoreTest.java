package io.keelson.server.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalArtifactStoreTest {

    private static final ArtifactOwner OWNER =
            new ArtifactOwner(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID(), 2, 7);

    @TempDir
    Path folder;
    private LocalArtifactStore store;

    @BeforeEach
    void setUp() throws IOException {
        store = new LocalArtifactStore(folder.resolve("artifacts"), 100);
    }

    @Test
    void whatIsPutCanBeOpenedUntilItIsDeleted() throws IOException {
        StoredArtifact stored = store.put(OWNER, "a.txt", "text/plain", bytes("abc"));
        assertThat(stored.sizeBytes()).isEqualTo(3);
        assertThat(stored.sha256()).isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assertThat(stored.storageKey()).startsWith(OWNER.workspaceId() + "/" + OWNER.runId()).contains("/2-7/");
        try (InputStream in = store.open(stored.storageKey())) {
            assertThat(in.readAllBytes()).isEqualTo("abc".getBytes());
        }
        assertThat(store.delete(stored.storageKey())).isTrue();
        assertThat(store.delete(stored.storageKey())).isFalse();
        assertThatThrownBy(() -> store.open(stored.storageKey())).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void theSameNameTwiceIsTwoArtifacts() throws IOException {
        StoredArtifact first = store.put(OWNER, "a", "text/plain", bytes("1"));
        StoredArtifact second = store.put(OWNER, "a", "text/plain", bytes("2"));
        assertThat(second.storageKey()).isNotEqualTo(first.storageKey());
    }

    @Test
    void aTooLargeOneLeavesNothingBehind() throws IOException {
        assertThatThrownBy(() -> store.put(OWNER, "a", "text/plain", bytes("x".repeat(101))))
                .isInstanceOfSatisfying(ArtifactRefusedException.class,
                        e -> assertThat(e.code()).isEqualTo("ARTIFACT_TOO_LARGE"));
        assertThat(files()).isEmpty();
    }

    @Test
    void aContentThatBreaksOffLeavesNothingBehind() throws IOException {
        InputStream broken = new SequenceInputStream(bytes("begun"), new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("broke off");
            }
        });
        assertThatThrownBy(() -> store.put(OWNER, "a", "text/plain", broken)).hasMessage("broke off");
        assertThat(files()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"../../etc/passwd", "/etc/passwd", "", "incoming/x", "a/b/c/1-1/d"})
    void keysThatAreNotItsOwnNameNothing(String key) {
        assertThatThrownBy(() -> store.open(key)).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> store.delete(key)).isInstanceOf(NoSuchFileException.class);
    }

    private Stream<Path> files() throws IOException {
        return Files.walk(folder.resolve("artifacts")).filter(Files::isRegularFile);
    }

    private static InputStream bytes(String text) {
        return new ByteArrayInputStream(text.getBytes());
    }
}
