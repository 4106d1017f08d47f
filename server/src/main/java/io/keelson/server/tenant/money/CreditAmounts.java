package io.keelson.server.tenant.money;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Pattern;

/** Amounts of credits: exact decimals with at most six places. 1 credit is 1 USD. */
public final class CreditAmounts {

    /** Decimal places. */
    public static final int SCALE = 6;

    /** Most that is booked at once by a person, or that a price may be. */
    public static final BigDecimal MAX_AMOUNT = new BigDecimal("1000000000");

    /** Most that an account holds. */
    static final BigDecimal MAX_BALANCE = new BigDecimal("99999999999999.999999");

    private static final Pattern PLAIN = Pattern.compile("\\d{1,30}(\\.\\d{1,30})?");

    private CreditAmounts() {}

    /** Parses a plain decimal such as {@code 12.5}, without sign and exponent; empty for any other text. */
    public static Optional<BigDecimal> parse(String text) {
        return PLAIN.matcher(text).matches() ? Optional.of(new BigDecimal(text)) : Optional.empty();
    }

    /** Whether it has at most {@link #SCALE} places and is from 0 to {@link #MAX_AMOUNT}. */
    public static boolean possible(BigDecimal amount) {
        return amount.signum() >= 0 && amount.compareTo(MAX_AMOUNT) <= 0
                && (amount.signum() == 0 || amount.stripTrailingZeros().scale() <= SCALE);
    }

    /** With exactly {@link #SCALE} places, as the database has it. Only for a {@linkplain #possible possible} one. */
    static BigDecimal normal(BigDecimal amount) {
        if (!possible(amount)) {
            throw new IllegalArgumentException("not an amount: " + amount);
        }
        return amount.setScale(SCALE);
    }
}
