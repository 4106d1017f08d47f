package io.keelson.server.base.expr;

import io.keelson.server.base.json.NumberText;
import java.math.BigDecimal;
import java.math.BigInteger;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Numbers: integers keep every digit, sums, differences and products of 64-bit integers too while they fit; all other
 * arithmetic is that of doubles. A double that is whole and below 1e17 becomes an integer.
 */
final class JqNumber {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final int MAX_EXPONENT = 400;

    private JqNumber() {}

    static JsonNode of(double value) {
        boolean whole = value == Math.rint(value) && Math.abs(value) < NumberText.FIRST_WITH_EXPONENT;
        return whole ? of((long) value) : NODES.numberNode(value);
    }

    static JsonNode of(long value) {
        return (int) value == value ? NODES.numberNode((int) value) : NODES.numberNode(value);
    }

    /** The number of a text; infinite where a double has no room. */
    static JsonNode parse(String text) {
        BigDecimal decimal;
        try {
            decimal = new BigDecimal(text);
        } catch (NumberFormatException e) {
            return of(text.matches("[-+.0]*([eE].*)?|.*[eE]-.*") ? 0 : Double.parseDouble(text));
        }
        long exponent = (long) decimal.precision() - decimal.scale();
        if (decimal.signum() == 0 || exponent < -MAX_EXPONENT) {
            return of(0L);
        }
        if (exponent > MAX_EXPONENT) {
            return of(decimal.signum() * Double.POSITIVE_INFINITY);
        }
        boolean integer = text.chars().allMatch(c -> c >= '0' && c <= '9' || c == '-' || c == '+');
        return integer ? of(decimal.toBigInteger()) : of(decimal);
    }

    private static JsonNode of(BigInteger value) {
        return value.bitLength() < Long.SIZE ? of(value.longValue()) : NODES.numberNode(value);
    }

    /** A double where it loses no digit. */
    static JsonNode of(BigDecimal value) {
        double near = value.doubleValue();
        return Double.isInfinite(near) || BigDecimal.valueOf(near).compareTo(value) == 0
                ? of(near)
                : NODES.numberNode(value);
    }

    static boolean isNan(JsonNode value) {
        return value.isFloatingPointNumber() && Double.isNaN(value(value));
    }

    /** Whether it is an integer of 64 bits. */
    static boolean isLong(JsonNode value) {
        return value.isInt() || value.isLong();
    }

    static double value(JsonNode number) {
        return number.isBigInteger() ? number.bigIntegerValue().doubleValue()
                : number.isBigDecimal() ? number.decimalValue().doubleValue()
                        : isLong(number) ? number.longValue() : number.doubleValue();
    }

    /** All digits of both count; a double has the digits that it is written with. */
    static int compare(JsonNode a, JsonNode b) {
        if (isLong(a) && isLong(b)) {
            return Long.compare(a.longValue(), b.longValue());
        }
        double left = value(a);
        double right = value(b);
        boolean exact = Double.isFinite(left) && Double.isFinite(right) && (!a.isDouble() || !b.isDouble());
        if (exact) {
            return decimal(a).compareTo(decimal(b));
        }
        return Double.isNaN(left) || Double.isNaN(right)
                ? Boolean.compare(Double.isNaN(right), Double.isNaN(left))
                : left < right ? -1 : left > right ? 1 : 0;
    }

    private static BigDecimal decimal(JsonNode number) {
        if (!number.isDouble() && !number.isFloat()) {
            return number.decimalValue();
        }
        double value = number.doubleValue();
        return value == Math.rint(value) ? new BigDecimal(value) : BigDecimal.valueOf(value);
    }

    static JsonNode negate(JsonNode value) {
        if (value.isIntegralNumber()) {
            return of(value.bigIntegerValue().negate());
        }
        return value.isBigDecimal() ? NODES.numberNode(value.decimalValue().negate()) : of(-value(value));
    }

    static JsonNode abs(JsonNode value) {
        return value.isIntegralNumber() ? of(value.bigIntegerValue().abs())
                : value(value) < 0 ? negate(value) : value;
    }

    static JsonNode add(JsonNode a, JsonNode b) {
        if (isLong(a) && isLong(b)) {
            long sum = a.longValue() + b.longValue();
            if (((a.longValue() ^ sum) & (b.longValue() ^ sum)) >= 0) {
                return of(sum);
            }
        }
        return of(value(a) + value(b));
    }

    static JsonNode subtract(JsonNode a, JsonNode b) {
        if (isLong(a) && isLong(b)) {
            long difference = a.longValue() - b.longValue();
            if (((a.longValue() ^ b.longValue()) & (a.longValue() ^ difference)) >= 0) {
                return of(difference);
            }
        }
        return of(value(a) - value(b));
    }

    static JsonNode multiply(JsonNode a, JsonNode b) {
        if (isLong(a) && isLong(b)) {
            long high = Math.multiplyHigh(a.longValue(), b.longValue());
            long low = a.longValue() * b.longValue();
            if (high == 0 && low >= 0 || high == -1 && low < 0) {
                return of(low);
            }
        }
        return of(value(a) * value(b));
    }

    /** Exact where both are integers and nothing remains. */
    static JsonNode divide(JsonNode a, JsonNode b) {
        boolean exact = isLong(a) && isLong(b) && b.longValue() != -1 && a.longValue() % b.longValue() == 0;
        return exact ? of(a.longValue() / b.longValue()) : of(value(a) / value(b));
    }

    /** The remainder of the whole parts; the sign is that of the dividend. */
    static JsonNode remainder(JsonNode a, JsonNode b) {
        if (isNan(a) || isNan(b)) {
            return NODES.numberNode(Double.NaN);
        }
        long divisor = whole(b);
        return of(divisor == -1 ? 0 : whole(a) % divisor);
    }

    /** The whole part, at most what 64 bits have. */
    static long whole(JsonNode number) {
        return isLong(number) ? number.longValue() : (long) value(number);
    }

    /** The digits of a number in texts. */
    static String text(JsonNode number) {
        return NumberText.of(number);
    }
}
