package io.keelson.api.worker;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Claims steps under a lease.
 *
 * @param workerId the worker
 * @param tools tools that the worker serves
 * @param max maximum number of steps
 * @param waitMs maximum wait for the first step
 * @param leaseMs length of the lease; the server's setting of 30 s if absent
 * @param version version of the worker
 * @param toolSpecs descriptions of the worker's tools in addition to their names; once is enough, an empty list changes
 *     nothing
 * @param again whether the worker claims again as soon as it has the answer. Steps that become ready meanwhile are
 *     leased to it, as long as they and the answer's steps are at most {@code max}; its next claim gets them at once.
 *     The server releases them if no claim follows within 250 ms. Has no effect on a claim that does not itself follow
 *     another one within 250 ms at that server
 * @param chains tools without effects, of {@code tools}. A step of such a tool comes with {@code following} steps of its task; the worker
 *     executes them in their order and reports all results in one request
 * @param items claims only these items of the queue, and does not wait. Items that are not ready, and items of other tools, are left out
 */
@Request
public record Claim(@Ref("Name") String workerId, @Size(min = 1, max = 500) List<@Ref("Name") String> tools,
        @Default("1") @Range(min = 1, max = 1000) int max, @Default("0") @Range(min = 0, max = 60_000) long waitMs,
        @Nullable @Range(min = 1000, max = 3_600_000) Long leaseMs, @Nullable @Text(max = 200) String version,
        @Default("[]") @Size(max = 500) List<AnnouncedTool> toolSpecs, @Default("false") boolean again,
        @Default("[]") @Size(max = 500) List<@Ref("Name") String> chains,
        @Default("[]") @Size(max = 1000) List<Item> items) {

    /**
     * An item of the work queue, as messages of a broker name it.
     *
     * @param taskId id of the task
     * @param lane of the task's work: one for steps in order, one each for parallel steps
     */
    @Request
    public record Item(UUID taskId, @Range(min = 0) int lane) {}
}
