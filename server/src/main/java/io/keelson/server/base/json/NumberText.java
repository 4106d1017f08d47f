package io.keelson.server.base.json;

import java.math.BigDecimal;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The digits of a number in a text: no exponent below 1e17, nor for decimals from 1e-7, and no digits that
 * are all zero behind the point.
 */
public final class NumberText {

    /** Doubles from here on are written with an exponent. */
    public static final double FIRST_WITH_EXPONENT = 1e17;

    private static final int FIRST_EXPONENT = 17;
    private static final int LAST_PLAIN_ZEROS = -7;

    private NumberText() {}

    /** Gives all digits of an integer; for not-a-number {@code null}, for an infinite number the largest one. */
    public static String of(JsonNode number) {
        if (number.isIntegralNumber()) {
            return number.asString();
        }
        if (number.isBigDecimal()) {
            return of(number.decimalValue());
        }
        double value = number.doubleValue();
        return Double.isNaN(value) ? "null" : of(BigDecimal.valueOf(bounded(value)));
    }

    /** The text of one of Java's numbers. */
    public static String of(Number number) {
        return number instanceof Double || number instanceof Float
                ? of(JsonNodeFactory.instance.numberNode(number.doubleValue()))
                : number instanceof BigDecimal decimal ? of(decimal) : number.toString();
    }

    private static String of(BigDecimal value) {
        BigDecimal digits = value.stripTrailingZeros();
        int exponent = digits.precision() - digits.scale() - 1;
        if (digits.signum() == 0) {
            return "0";
        }
        if (exponent >= LAST_PLAIN_ZEROS && exponent < FIRST_EXPONENT) {
            return digits.toPlainString();
        }
        String mantissa = digits.movePointLeft(exponent).stripTrailingZeros().toPlainString();
        return mantissa + String.format(Locale.ROOT, "e%s%02d", exponent < 0 ? "-" : "+", Math.abs(exponent));
    }

    private static double bounded(double value) {
        return Math.clamp(value, -Double.MAX_VALUE, Double.MAX_VALUE);
    }

    /** The number as JSON without Java's exponent. */
    public static JsonNode plain(double value) {
        double bounded = bounded(value);
        BigDecimal decimal = BigDecimal.valueOf(bounded);
        return Math.abs(bounded) < FIRST_WITH_EXPONENT
                ? JsonNodeFactory.instance.numberNode(decimal.scale() < 0 ? decimal.setScale(0) : decimal)
                : JsonNodeFactory.instance.numberNode(bounded);
    }
}
