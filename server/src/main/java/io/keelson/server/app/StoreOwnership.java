package io.keelson.server.app;

import io.keelson.server.annex.s3.S3ArtifactStore;
import io.keelson.server.base.background.BackgroundTask;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the owner of an object store's prefix from time to time. A server without artifacts notices so that another database has
 * adopted the prefix.
 */
final class StoreOwnership implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StoreOwnership.class);
    private static final Duration PERIOD = Duration.ofSeconds(30);

    private final S3ArtifactStore store;
    private final BackgroundTask task = BackgroundTask.every("artifact-owner", PERIOD, this::look);
    private @Nullable String before;

    StoreOwnership(S3ArtifactStore store) {
        this.store = store;
    }

    StoreOwnership start() {
        task.start();
        return this;
    }

    List<BackgroundTask> tasks() {
        return List.of(task);
    }

    /** Reads it once. */
    void look() {
        try {
            store.readOwner();
        } catch (IOException e) {
            LOG.debug("the object store does not respond, or has another owner", e);
        }
        String found = store.refusal();
        if (Objects.equals(found, before)) {
            return;
        }
        before = found;
        if (found == null) {
            LOG.info("the object store belongs to this database again");
        } else {
            LOG.error("{}: {}", S3ArtifactStore.OTHER_OWNER, found);
        }
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
