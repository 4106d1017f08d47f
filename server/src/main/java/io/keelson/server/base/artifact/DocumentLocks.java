package io.keelson.server.base.artifact;

import java.io.IOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Exclusive access to the documents of runs, on all servers, for stores without locks. */
public interface DocumentLocks {

    /** A lock that is held. */
    interface Lock extends AutoCloseable {

        /** @throws IOException if the lock was lost */
        void requireHeld() throws IOException;

        @Override
        void close() throws IOException;
    }

    /** Null while another writer has the lock. */
    @Nullable Lock take(UUID run) throws IOException;
}
