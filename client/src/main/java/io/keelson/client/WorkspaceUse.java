package io.keelson.client;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * The limited resources that a workspace uses.
 *
 * @param usdThisMonth that its runs have reserved and spent in this calendar month of UTC; null without such a limit
 */
public record WorkspaceUse(long openRuns, long steps, long runsLastMinute, long storageBytes,
        @Nullable BigDecimal usdThisMonth) {}
