package io.keelson.server.engine.execute;

import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Verdicts as verifiers say them: {@code {"verdict":"passed|rejected|unsure","score":0..1,"feedback":"…"}}. */
public final class VerdictText {
    /** As many digits as the tables keep. */
    private static final int DIGITS = 6;

    private VerdictText() {}

    /** What an output says as a verdict; null when it says none, or one that cannot be. */
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
            return new Verdict(
                    Verdict.Outcome.valueOf(output.path("verdict").stringValue().toUpperCase(Locale.ROOT)),
                    number == null ? null : number.setScale(DIGITS, RoundingMode.HALF_UP), feedback);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
