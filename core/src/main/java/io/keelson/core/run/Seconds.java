package io.keelson.core.run;

import java.math.BigDecimal;
import java.time.Duration;

/** Formats limits for messages: "1.5 s". */
public final class Seconds {

    private Seconds() {}

    public static String of(Duration limit) {
        return BigDecimal.valueOf(limit.toMillis(), 3).stripTrailingZeros().toPlainString() + " s";
    }
}
