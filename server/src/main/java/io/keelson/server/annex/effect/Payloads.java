package io.keelson.server.annex.effect;

import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ObjectNode;

/** Payloads of commands, in one form for clients and steps. */
final class Payloads {

    /** A quantity or price: more than 0, at most 18 digits before and after the point, no sign, no exponent. */
    public static final String DECIMAL = "^(?!0+(\\.0+)?$)[0-9]{1,18}(\\.[0-9]{1,18})?$";
    /** A traded symbol. */
    public static final String SYMBOL = "^[A-Za-z0-9][A-Za-z0-9._:/-]{0,49}$";
    public static final List<String> SIDES = List.of("buy", "sell");
    public static final List<String> ORDER_TYPES = List.of("market", "limit");
    public static final List<String> MODES = List.of("paper", "live");

    private static final Pattern IS_DECIMAL = Pattern.compile(DECIMAL);
    private static final List<String> DECIMALS = List.of("quantity", "limit_price", "capital");

    private Payloads() {}

    public static boolean isDecimal(String text) {
        return IS_DECIMAL.matcher(text).matches();
    }

    /** A copy with decimals in their shortest form: 1.50 is 1.5. */
    public static ObjectNode normal(ObjectNode payload) {
        ObjectNode normal = payload.deepCopy();
        for (String name : DECIMALS) {
            String text = normal.path(name).asString("");
            if (isDecimal(text)) {
                normal.put(name, new BigDecimal(text).stripTrailingZeros().toPlainString());
            }
        }
        return normal;
    }
}
