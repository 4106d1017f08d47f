package io.keelson.server.engine.execute;

import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Parses verdicts of verifiers: {@code {"verdict":"passed|rejected|unsure","score":0..1,"feedback":"…"}}. */
public final class VerdictText {
    /** The tables' number of digits. */
    private static final int DIGITS = 6;

    private VerdictText() {}

    /** The verdict in an output; null if absent or an invalid one. */
    public static @Nullable Verdict of(JsonNode output) {
        JsonNode score = output.path("score");
        if (!output.path("verdict").isString() || !(score.isNumber() || score.isMissingNode() || score.isNull())) {
            return null;
        }
        BigDecimal number = score.isNumber() ? score.decimalValue() : null;
        if (number != null && (number.signum() < 0 || number.compareTo(BigDecimal.ONE) > 0)) {
            return null;
        }
        String feedback = output.path("feedback").isString() ? output.path("feedback").stringValue() : null;
        try {
            return new Verdict(Verdict.Outcome.valueOf(output.path("verdict").stringValue().toUpperCase(Locale.ROOT)),
                    number == null ? null : number.setScale(DIGITS, RoundingMode.HALF_UP), feedback);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
