package io.keelson.server.base.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.ArtifactStoreObserver.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObservedArtifactStoreTest {

    /** Remembers the outcomes of requests. */
    private static final class Outcomes implements ArtifactStoreObserver {
        private final List<Outcome> all = new ArrayList<>();

        @Override
        public void onRequest(Operation operation, Outcome outcome, long nanos) {
            all.add(outcome);
        }

        @Override
        public void onBrokenRead() {}

        @Override
        public void onStored(long bytes) {}

        @Override
        public void onRead(long bytes) {}
    }

    @TempDir
    Path folder;

    /** The API refuses a request that is too slow by an unchecked exception of its body. */
    @Test
    void contentThatFailsIsNoFailureOfTheStore() throws IOException {
        Outcomes outcomes = new Outcomes();
        ArtifactStore store = new ObservedArtifactStore(new LocalArtifactStore(folder), outcomes);
        InputStream broken = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("broke off");
            }
        };
        InputStream slow = new InputStream() {
            @Override
            public int read() {
                throw new IllegalStateException("too slow");
            }
        };
        assertThatThrownBy(() -> put(store, broken)).hasMessage("broke off");
        assertThatThrownBy(() -> put(store, slow)).hasMessage("too slow");
        String key = put(store, ArtifactStoreContract.bytes("abc")).storageKey();
        store.delete(key);
        assertThatThrownBy(() -> store.open(key)).isInstanceOf(NoSuchFileException.class);
        assertThat(outcomes.all).containsExactly(Outcome.CONTENT, Outcome.CONTENT, Outcome.OK, Outcome.OK,
                Outcome.MISSING);
    }

    @Test
    void textOfTheStoreIsNotInItsFailures() throws IOException {
        Outcomes outcomes = new Outcomes();
        ArtifactStore store = new ObservedArtifactStore(new LocalArtifactStore(folder), outcomes);
        String key = put(store, ArtifactStoreContract.bytes("abc")).storageKey();
        Files.delete(folder.resolve(key));
        Files.createDirectory(folder.resolve(key));
        Files.createDirectory(folder.resolve(key).resolve("full"));
        assertThatThrownBy(() -> store.delete(key)).isInstanceOf(StoreFailedException.class)
                .hasMessageNotContainingAny(folder.toString(), key);
        assertThat(outcomes.all).containsExactly(Outcome.OK, Outcome.FAILED);
    }

    private static StoredArtifact put(ArtifactStore store, InputStream content) throws IOException {
        return store.put(ArtifactStoreContract.OWNER, "a", "text/plain", content);
    }
}
