package io.keelson.server.annex.model.coordination;

import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Computes a verdict out of a judge's marks. A mark m of 1 to 5 is worth (m − 1)/4. An output passes if each criterion of
 * {@code must_pass} has at least 4 and the weighted mean is at least the bound. A person decides where a mark is missing, or the
 * judge's confidence is below one half.
 */
final class Marks {
    /** The default pass mark of the weighted mean. */
    static final BigDecimal PASS = new BigDecimal("0.7");

    private static final int GOOD = 4;
    private static final BigDecimal CONFIDENT = new BigDecimal("0.5");
    private static final int DECIMALS = 6;

    /** A criterion with its mark, 1 to 5; null if absent. */
    private record Marked(String criterion, boolean mustPass, BigDecimal weight, @Nullable Integer mark,
            String evidence) {

        boolean failed() {
            return mark == null || mark < GOOD;
        }

        String line() {
            return criterion + (mustPass ? " (must pass)" : "") + ": " + (mark == null ? "no mark" : mark + " of 5")
                    + (evidence.isEmpty() ? "" : ", \"" + evidence + "\"");
        }
    }

    private final List<Marked> marked = new ArrayList<>();
    private final String feedback;
    private final BigDecimal confidence;
    private final boolean taskWrong;

    /**
     * @param criteria as the plan has them
     * @param answer of the judge; marks name criteria by their numbers, from 1
     */
    Marks(JsonNode criteria, JsonNode answer) {
        feedback = answer.path("feedback").asString("");
        confidence = answer.path("confidence").decimalValue();
        taskWrong = answer.path("task_wrong").asBoolean(false);
        for (int i = 0; i < criteria.size(); i++) {
            JsonNode criterion = criteria.get(i);
            int number = i + 1;
            JsonNode mark = answer.path("marks").valueStream()
                    .filter(each -> each.path("criterion").asInt(0) == number).findFirst().orElse(null);
            marked.add(new Marked(criterion.path("criterion").asString(""),
                    criterion.path("must_pass").asBoolean(false),
                    criterion.path("weight").isNumber() ? criterion.get("weight").decimalValue() : BigDecimal.ONE,
                    mark == null ? null : mark.path("mark").asInt(), mark == null ? ""
                            : mark.path("evidence").asString("")));
        }
    }

    /** @param pass the least weighted mean */
    ObjectNode verdict(BigDecimal pass) {
        boolean partial = marked.stream().anyMatch(each -> each.mark == null);
        BigDecimal score = score();
        boolean good = marked.stream().noneMatch(each -> each.mustPass && each.failed()) && score.compareTo(pass) >= 0;
        boolean unsure = partial || confidence.compareTo(CONFIDENT) < 0;
        ObjectNode output = Json.object()
                .put("verdict", unsure ? "unsure" : good ? "passed" : taskWrong ? "task_wrong" : "rejected")
                .put("score", score).put("feedback", feedback(partial, unsure, good)).put("confidence", confidence);
        ArrayNode marks = output.putArray("marks");
        marked.forEach(each -> marks.addObject().put("criterion", each.criterion).put("must_pass", each.mustPass)
                .put("weight", each.weight).put("mark", each.mark).put("evidence", each.evidence));
        return output;
    }

    /** The weighted mean; a criterion without a mark counts as the worst. */
    private BigDecimal score() {
        BigDecimal sum = BigDecimal.ZERO;
        BigDecimal weights = BigDecimal.ZERO;
        for (Marked each : marked) {
            BigDecimal worth = each.mark == null ? BigDecimal.ZERO
                    : BigDecimal.valueOf(each.mark - 1L).divide(BigDecimal.valueOf(GOOD), MathContext.DECIMAL64);
            sum = sum.add(worth.multiply(each.weight));
            weights = weights.add(each.weight);
        }
        return sum.divide(weights, DECIMALS, RoundingMode.HALF_UP);
    }

    private String feedback(boolean partial, boolean unsure, boolean good) {
        StringBuilder text = new StringBuilder();
        if (unsure) {
            text.append(partial ? "The judge did not mark each criterion. "
                    : "The judge's confidence is " + confidence.stripTrailingZeros().toPlainString() + ". ");
        }
        text.append(feedback);
        marked.stream().filter(each -> unsure || !good && each.failed())
                .forEach(each -> text.append(text.isEmpty() ? "" : "\n").append("- ").append(each.line()));
        return text.toString();
    }
}
