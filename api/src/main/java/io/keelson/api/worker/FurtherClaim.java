package io.keelson.api.worker;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim in a request with reports. It is answered as soon as the reports are committed, with steps that are ready then.
 *
 * @param tools tools that the worker serves
 * @param max maximum number of steps, {@code next} of the answers included. A {@code rejected} report uses one, because the worker
 *     still has its step
 * @param leaseMs as in a claim
 * @param chains as in a claim
 */
@Request
public record FurtherClaim(@Size(min = 1, max = 500) List<@Ref("Name") String> tools,
        @Range(min = 1, max = 1000) int max, @Nullable @Range(min = 1000, max = 3_600_000) Long leaseMs,
        @Default("[]") @Size(max = 500) List<@Ref("Name") String> chains) {}
