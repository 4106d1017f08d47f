package io.keelson.server.base.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every artifact store must do. A store's test extends this and says how one is made. */
public abstract class ArtifactStoreContract {

    public static final long MAX = 100;
    public static final ArtifactOwner OWNER =
            new ArtifactOwner(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID(), 2, 7);
    private static final Instant LATER = Instant.parse("2200-01-01T00:00:00Z");

    /** An empty store that takes {@link #MAX} bytes. */
    protected abstract ArtifactStore store() throws IOException;

    @Test
    void artifactIsReadableUntilItIsDeleted() throws IOException {
        ArtifactStore store = store();
        StoredArtifact stored = store.put(OWNER, "a.txt", "text/plain", bytes("abc"));
        assertThat(stored.sizeBytes()).isEqualTo(3);
        assertThat(stored.sha256()).isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        try (InputStream in = store.open(stored.storageKey())) {
            assertThat(in.readAllBytes()).isEqualTo("abc".getBytes());
        }
        assertThat(store.delete(stored.storageKey())).isTrue();
        assertThat(store.delete(stored.storageKey())).isFalse();
        assertThatThrownBy(() -> store.open(stored.storageKey())).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> store.open(stored.storageKey(), 1)).isInstanceOf(NoSuchFileException.class);
        assertThat(keys(store, LATER)).isEmpty();
        store.put(OWNER, "b.txt", "text/plain", bytes("again"));
        assertThat(keys(store, LATER)).hasSize(1);
    }

    @Test
    void theSameNameTwiceIsTwoArtifacts() throws IOException {
        ArtifactStore store = store();
        StoredArtifact first = store.put(OWNER, "a", "text/plain", bytes("1"));
        StoredArtifact second = store.put(OWNER, "a", "text/plain", bytes("2"));
        assertThat(second.storageKey()).isNotEqualTo(first.storageKey());
        assertThat(keys(store, LATER)).containsExactlyInAnyOrder(first.storageKey(), second.storageKey());
        assertThat(keys(store, Instant.EPOCH)).isEmpty();
    }

    @Test
    void asMuchAsItTakesAndNoMore() throws IOException {
        ArtifactStore store = store();
        assertThat(store.maxBytes()).isEqualTo(MAX);
        assertThat(store.put(OWNER, "a", "text/plain", bytes("x".repeat((int) MAX))).sizeBytes()).isEqualTo(MAX);
        assertThatThrownBy(() -> store.put(OWNER, "a", "text/plain", bytes("x".repeat((int) MAX + 1))))
                .isInstanceOfSatisfying(ArtifactRefusedException.class,
                        e -> assertThat(e.code()).isEqualTo("ARTIFACT_TOO_LARGE"));
        assertThat(keys(store, LATER)).hasSize(1);
    }

    @Test
    void aContentThatBreaksOffLeavesNothingBehind() throws IOException {
        ArtifactStore store = store();
        InputStream broken = new SequenceInputStream(bytes("begun"), new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("broke off");
            }
        });
        assertThatThrownBy(() -> store.put(OWNER, "a", "text/plain", broken)).hasMessage("broke off");
        assertThat(keys(store, LATER)).isEmpty();
    }

    @Test
    void openReaderSurvivesDeletion() throws IOException {
        ArtifactStore store = store();
        StoredArtifact stored = store.put(OWNER, "a", "text/plain", bytes("abc"));
        try (InputStream in = store.open(stored.storageKey())) {
            assertThat(in.read()).isEqualTo('a');
            store.delete(stored.storageKey());
            assertThat(in.readAllBytes()).isEqualTo("bc".getBytes());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "..", "a/b", "a\\b", "a\nb", "a\u202Etxt.exe", "a\u200Bb", "a\u2028b", "a\u009Bb"})
    void namesThatAreNone(String name) throws IOException {
        ArtifactStore store = store();
        assertThatThrownBy(() -> store.put(OWNER, name, "text/plain", bytes("x")))
                .isInstanceOfSatisfying(ArtifactRefusedException.class,
                        e -> assertThat(e.code()).isEqualTo("ARTIFACT_NAME_INVALID"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"../../etc/passwd", "/etc/passwd", "", "incoming/x", "a/b/c/1-1/d"})
    void keysThatAreNotItsOwnNameNothing(String key) throws IOException {
        ArtifactStore store = store();
        assertThatThrownBy(() -> store.open(key)).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> store.delete(key)).isInstanceOf(NoSuchFileException.class);
    }

    public static List<String> keys(ArtifactStore store, Instant before) throws IOException {
        List<String> all = new ArrayList<>();
        store.storedBefore(before, all::addAll);
        return all;
    }

    public static InputStream bytes(String text) {
        return new ByteArrayInputStream(text.getBytes());
    }
}
