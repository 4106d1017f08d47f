package io.keelson.server.base.artifact;

import io.keelson.server.base.artifact.ArtifactStoreObserver.Operation;
import io.keelson.server.base.artifact.ArtifactStoreObserver.Outcome;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A store whose use is counted. Its failures are logged here, and callers get them without the store's text. */
public final class ObservedArtifactStore implements ArtifactStore {

    private static final Logger LOG = LoggerFactory.getLogger(ObservedArtifactStore.class);

    private interface Request<T extends @Nullable Object> {
        T send() throws IOException;
    }

    private final ArtifactStore store;
    private final ArtifactStoreObserver observer;

    public ObservedArtifactStore(ArtifactStore store, ArtifactStoreObserver observer) {
        this.store = store;
        this.observer = observer;
    }

    @Override
    public StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content)
            throws IOException {
        Source source = new Source(content);
        StoredArtifact stored = observe(Operation.PUT, source, () -> store.put(owner, name, contentType, source));
        observer.onStored(stored.sizeBytes());
        return stored;
    }

    @Override
    public InputStream open(String storageKey) throws IOException {
        return new Counted(observe(Operation.READ, null, () -> store.open(storageKey)));
    }

    @Override
    public InputStream open(String storageKey, long from) throws IOException {
        return new Counted(observe(Operation.READ, null, () -> store.open(storageKey, from)));
    }

    @Override
    public boolean delete(String storageKey) throws IOException {
        return observe(Operation.DELETE, null, () -> store.delete(storageKey));
    }

    @Override
    public void storedBefore(Instant time, Keys keys) throws IOException {
        this.<@Nullable Object>observe(Operation.LIST, null, () -> {
            store.storedBefore(time, keys);
            return null;
        });
    }

    @Override
    public int removeUnfinished(Instant time) throws IOException {
        return observe(Operation.LIST, null, () -> store.removeUnfinished(time));
    }

    @Override
    public @Nullable URI link(String storageKey, ContentLink terms) throws IOException {
        try {
            return store.link(storageKey, terms);
        } catch (IOException e) {
            throw failed("link", e);
        }
    }

    @Override
    public long maxBytes() {
        return store.maxBytes();
    }

    private <T extends @Nullable Object> T observe(Operation operation, @Nullable Source source, Request<T> request)
            throws IOException {
        long begin = System.nanoTime();
        Outcome outcome = Outcome.FAILED;
        try {
            T result = request.send();
            outcome = Outcome.OK;
            return result;
        } catch (NoSuchFileException e) {
            outcome = Outcome.MISSING;
            throw e;
        } catch (ArtifactRefusedException | StoreBusyException e) {
            outcome = Outcome.CONTENT;
            throw e;
        } catch (IOException e) {
            if (source != null && source.failed) {
                outcome = Outcome.CONTENT;
                throw e;
            }
            throw failed(operation.name().toLowerCase(Locale.ROOT), e);
        } catch (RuntimeException e) {
            outcome = source != null && source.failed ? Outcome.CONTENT : Outcome.FAILED;
            throw e;
        } finally {
            observer.onRequest(operation, outcome, System.nanoTime() - begin);
        }
    }

    private static StoreFailedException failed(String operation, IOException failure) {
        LOG.warn("ARTIFACT_STORE_FAILED: {}: {}", operation, failure.toString());
        return new StoreFailedException(failure);
    }

    /** Remembers whether the content failed, and not the store. A request that is too slow fails by an exception of the API. */
    private static final class Source extends FilterInputStream {
        private boolean failed;

        Source(InputStream content) {
            super(content);
        }

        @Override
        public int read() throws IOException {
            try {
                return super.read();
            } catch (IOException | RuntimeException e) {
                failed = true;
                throw e;
            }
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            try {
                return super.read(bytes, from, length);
            } catch (IOException | RuntimeException e) {
                failed = true;
                throw e;
            }
        }
    }

    /** Counts bytes that are read, and a failure of the store while they are. */
    private final class Counted extends FilterInputStream {

        Counted(InputStream content) {
            super(content);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            try {
                int read = super.read(bytes, from, length);
                if (read > 0) {
                    observer.onRead(read);
                }
                return read;
            } catch (IOException e) {
                observer.onBrokenRead();
                throw failed("read", e);
            }
        }
    }
}
