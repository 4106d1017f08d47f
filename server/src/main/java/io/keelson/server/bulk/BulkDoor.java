package io.keelson.server.bulk;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Whether a workspace has room for runs that are to be open again. */
@FunctionalInterface
public interface BulkDoor {

    /**
     * Asked before each of them.
     *
     * @return the code of what stands in the way for now; null when nothing does
     */
    @Nullable String closed(UUID workspace);
}
