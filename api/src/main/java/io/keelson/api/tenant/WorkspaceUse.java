package io.keelson.api.tenant;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * The limited resources that a workspace uses.
 *
 * @param openRuns runs that have not ended
 * @param steps lanes at work
 * @param runsLastMinute runs created within 60 seconds
 * @param storageBytes bytes of artifacts
 * @param usdThisMonth credits that its runs have reserved and spent in this calendar month of UTC; null without the limit
 */
public record WorkspaceUse(long openRuns, long steps, long runsLastMinute, long storageBytes,
        @Nullable BigDecimal usdThisMonth) {}
