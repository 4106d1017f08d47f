package io.keelson.api.run;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Archived runs whose contents were compared with their digests and manifests.
 *
 * @param runs number of compared runs
 * @param rows number of their rows
 * @param bytes their size in the artifact store
 * @param damaged runs whose content is missing or another one
 * @param nextCursor position of the next runs; null after the last one
 */
public record ArchiveCheck(int runs, long rows, long bytes, List<Damage> damaged, @Nullable String nextCursor) {

    public ArchiveCheck {
        damaged = Absent.asEmpty(damaged);
    }

    /**
     * An archived run that cannot be read.
     *
     * @param runId id of the run
     * @param problem kind of the problem
     * @param message description of the problem
     */
    public record Damage(@Id String runId, @OneOf({"missing", "damaged", "newer", "store_failed"}) String problem,
            String message) {}
}
