package io.keelson.core.money;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Amounts of money: credits, of which one is one USD, to six decimal places. Costs are exact, to twelve places, and become
 * amounts by rounding their sum once.
 */
public final class Amounts {
    public static final BigDecimal ZERO = of(BigDecimal.ZERO);
    public static final BigDecimal ONE = of(BigDecimal.ONE);

    private static final int SCALE = 6;
    private static final int COST_SCALE = 12;

    /** The smallest amount above zero. */
    public static final BigDecimal LEAST = BigDecimal.ONE.movePointLeft(SCALE);

    private Amounts() {}

    /** The amount as text for users: no exponent, no trailing zeros. */
    public static String text(BigDecimal amount) {
        return amount.stripTrailingZeros().toPlainString();
    }

    /** The amount as text with its unit: {@code 1 credit}, {@code 0.5 credits}. */
    public static String credits(BigDecimal amount) {
        return text(amount) + (amount.compareTo(BigDecimal.ONE) == 0 ? " credit" : " credits");
    }

    /**
     * Divides an amount into parts as equal as six places allow; the first takes the remainder.
     *
     * @param amount at least 0, to six places
     */
    public static List<BigDecimal> split(BigDecimal amount, int parts) {
        BigDecimal each = amount.divide(BigDecimal.valueOf(parts), SCALE, RoundingMode.DOWN);
        List<BigDecimal> shares = new ArrayList<>(Collections.nCopies(parts, each));
        shares.set(0, amount.subtract(each.multiply(BigDecimal.valueOf(parts - 1L))));
        return shares;
    }

    /** The amount to six places, half of the last one upwards. */
    public static BigDecimal of(BigDecimal amount) {
        return amount.setScale(SCALE, RoundingMode.HALF_UP);
    }

    /** The least amount that is not less than the cost. */
    public static BigDecimal ceiling(BigDecimal cost) {
        return cost.setScale(SCALE, RoundingMode.CEILING);
    }

    /** The largest amount that is not more than the cost. */
    public static BigDecimal floor(BigDecimal cost) {
        return cost.setScale(SCALE, RoundingMode.FLOOR);
    }

    /** The cost to twelve places, half of the last one upwards. Equal costs are equal objects: with six places, or as many as they need. */
    public static BigDecimal exact(BigDecimal cost) {
        if (cost.scale() <= SCALE) {
            return cost.setScale(SCALE);
        }
        BigDecimal exact = cost.setScale(Math.min(cost.scale(), COST_SCALE), RoundingMode.HALF_UP).stripTrailingZeros();
        return exact.scale() < SCALE ? exact.setScale(SCALE) : exact;
    }
}
