package io.keelson.server.bulk;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Whether a workspace has room for runs that are to be open again. */
@FunctionalInterface
public interface BulkRetryAdmission {

    /** What never ceases to stand in the way: a workspace that is closed is not opened again. */
    String FOR_GOOD = "WORKSPACE_CLOSED";

    /**
     * Asked before each of them.
     *
     * @return the code of what stands in the way for now; null when nothing does
     */
    @Nullable String closed(UUID workspace);
}
