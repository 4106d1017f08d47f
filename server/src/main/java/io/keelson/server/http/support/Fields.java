package io.keelson.server.http.support;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.json.Excerpt;
import io.keelson.server.json.SafeText;
import io.keelson.server.money.CreditAmounts;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the members of a JSON object. Getters answer a harmless value where they note a problem; {@link #done} then refuses
 * the whole body, unknown keys included.
 */
public final class Fields extends JsonObjectReader {

    private static final int MAX_SCALE = 400;
    private static final int MAX_TIME = 50;
    private static final int FIRST_YEAR = 1970;
    private static final int LAST_YEAR = 9999;
    private static final int MAX_TASK = 200;
    private static final UUID NO_ID = new UUID(0, 0);

    private Fields(ObjectNode body) {
        super(body);
    }

    private Fields(ObjectNode object, Fields parent, String place) {
        super(object, parent, place);
    }

    static Fields of(JsonNode body) {
        if (body instanceof ObjectNode object) {
            return new Fields(object);
        }
        throw ApiProblem
                .of(List.of(new PlanProblem("WRONG_TYPE", "", "the body must be an object, not " + kind(body))));
    }

    /** Required text of 1 to {@code max} characters. */
    public String text(String key, int max) {
        String text = optionalText(key, max);
        if (text == null) {
            missing(key);
            return "";
        }
        if (text.isBlank()) {
            problem("EMPTY", key, "'" + key + "' may not be blank");
        }
        return text;
    }

    @Nullable public String optionalText(String key, int max) {
        JsonNode value = value(key);
        if (value == null) {
            return null;
        }
        if (!value.isString()) {
            wrongType(key, "a string", value);
            return null;
        }
        return checked(value.stringValue(), key, max);
    }

    /** A time (RFC 3339) of the years 1970 to 9999. */
    @Nullable public Instant optionalTime(String key) {
        String text = optionalText(key, MAX_TIME);
        if (text == null) {
            return null;
        }
        try {
            OffsetDateTime time = OffsetDateTime.parse(text);
            if (time.getYear() >= FIRST_YEAR && time.getYear() <= LAST_YEAR) {
                return time.toInstant();
            }
        } catch (DateTimeException e) {
            // refused below, as what is out of range
        }
        problem("INVALID_VALUE", key, "'" + key + "' must be a time such as 2026-01-31T12:00:00Z");
        return null;
    }

    private @Nullable String checked(String text, String place, int max) {
        if (text.length() > max) {
            problem("TOO_LONG", place, "at most " + max + " characters, not " + text.length());
            return null;
        }
        if (!SafeText.clean(text).equals(text)) {
            problem("INVALID_TEXT", place, "contains a NUL character or half of a surrogate pair");
            return null;
        }
        return text;
    }

    /** Text for people from a program that may have met anything: cleaned rather than refused. */
    public String lenientText(String key) {
        JsonNode value = value(key);
        if (value == null) {
            return "";
        }
        if (!value.isString()) {
            wrongType(key, "a string", value);
            return "";
        }
        return SafeText.clean(value.stringValue());
    }

    public boolean flag(String key, boolean absent) {
        JsonNode value = value(key);
        if (value != null && !value.isBoolean()) {
            wrongType(key, "true or false", value);
        }
        return value == null || !value.isBoolean() ? absent : value.booleanValue();
    }

    /** A whole number within bounds; {@code absent} where there is none. */
    public long integer(String key, long min, long max, long absent) {
        JsonNode value = value(key);
        if (value == null) {
            return absent;
        }
        if (!value.isIntegralNumber()) {
            wrongType(key, "a whole number", value);
            return absent;
        }
        if (!value.canConvertToLong() || value.longValue() < min || value.longValue() > max) {
            problem("OUT_OF_RANGE", key, "must be from " + min + " to " + max);
            return absent;
        }
        return value.longValue();
    }

    /** As {@link #integer}, but it must be there. */
    public long requiredInteger(String key, long min, long max) {
        if (value(key) == null) {
            missing(key);
        }
        return integer(key, min, max, min);
    }

    @Nullable public Long optionalInteger(String key, long min, long max) {
        return value(key) == null ? null : Long.valueOf(integer(key, min, max, min));
    }

    /** A number from 0 to {@code max} with at most {@code scale} decimal places; null where there is none. */
    @Nullable public BigDecimal optionalAmount(String key, int scale, BigDecimal max) {
        JsonNode value = value(key);
        if (value == null) {
            return null;
        }
        if (!value.isNumber()) {
            wrongType(key, "a number", value);
            return null;
        }
        BigDecimal amount = value.decimalValue();
        if (amount.signum() < 0 || amount.compareTo(max) > 0) {
            problem("OUT_OF_RANGE", key, "must be from 0 to " + max.toPlainString());
            return null;
        }
        if (amount.signum() != 0 && amount.stripTrailingZeros().scale() > scale) {
            problem("OUT_OF_RANGE", key, "at most " + scale + " decimal places");
            return null;
        }
        return amount;
    }

    /**
     * Credits or a price, as a number or as a text of digits: exact, from 0, with at most 6 decimal places. Null where
     * there is none or it cannot be used.
     */
    @Nullable public BigDecimal credits(String key) {
        JsonNode value = value(key);
        if (value == null) {
            return null;
        }
        if (!value.isNumber() && !value.isString()) {
            wrongType(key, "an amount", value);
            return null;
        }
        Optional<BigDecimal> amount =
                value.isNumber() ? Optional.of(value.decimalValue()) : CreditAmounts.parse(value.stringValue());
        if (amount.isEmpty()) {
            problem("INVALID_VALUE", key, "must be a decimal number such as 12.5");
        } else if (!CreditAmounts.possible(amount.get())) {
            problem("OUT_OF_RANGE", key,
                    "must be from 0 to " + CreditAmounts.MAX_AMOUNT + " with at most " + CreditAmounts.SCALE
                            + " decimal places");
        } else {
            return amount.get();
        }
        return null;
    }

    /** As {@link #credits}, but it must be there and more than 0; a harmless 1 where it is not. */
    public BigDecimal requiredCredits(String key) {
        if (value(key) == null) {
            missing(key);
        }
        BigDecimal amount = credits(key);
        if (amount != null && amount.signum() == 0) {
            problem("OUT_OF_RANGE", key, "must be more than 0");
        }
        return amount == null || amount.signum() == 0 ? BigDecimal.ONE : amount;
    }

    /** A number from 0 to 1; null where there is none. */
    @Nullable public Double fraction(String key) {
        JsonNode value = value(key);
        if (value == null) {
            return null;
        }
        if (!value.isNumber()) {
            wrongType(key, "a number", value);
            return null;
        }
        BigDecimal fraction = value.decimalValue();
        if (fraction.signum() < 0 || fraction.compareTo(BigDecimal.ONE) > 0) {
            problem("OUT_OF_RANGE", key, "must be from 0 to 1");
            return null;
        }
        return fraction.doubleValue();
    }

    /** A required id of this kind. */
    public UUID id(String key, IdKind kind) {
        String text = text(key, 100);
        UUID id = kind.parse(text);
        if (id == null && !text.isBlank()) {
            problem("INVALID_ID", key, "'" + Excerpt.piece(text) + "' is not an id");
        }
        return id == null ? NO_ID : id;
    }

    /** One of the words; {@code absent} where there is none. */
    public String word(String key, List<String> words, String absent) {
        String text = optionalText(key, 100);
        if (text == null) {
            return absent;
        }
        if (!words.contains(text)) {
            problem("INVALID_VALUE", key, "must be one of " + String.join(", ", words));
            return absent;
        }
        return text;
    }

    /** One of the words; null where there is none. */
    @Nullable public String optionalWord(String key, List<String> words) {
        String word = value(key) == null ? "" : word(key, words, "");
        return word.isEmpty() ? null : word;
    }

    /** As {@link #word}, but it must be there. */
    public String requiredWord(String key, List<String> words) {
        if (value(key) == null) {
            missing(key);
        }
        return word(key, words, "");
    }

    /** Any JSON value, cleaned of characters that the database cannot store; null if absent. */
    @Nullable public JsonNode any(String key) {
        JsonNode value = value(key);
        if (value == null) {
            return null;
        }
        if (!storableNumbers(value)) {
            problem("NUMBER_OUT_OF_RANGE", key, "contains a number beyond the range of a double");
        }
        return SafeText.clean(value);
    }

    private static boolean storableNumbers(JsonNode value) {
        return value.isContainer() ? value.valueStream().allMatch(Fields::storableNumbers)
                : !value.isBigDecimal() || Math.abs((long) value.decimalValue().scale()) <= MAX_SCALE;
    }

    /** A required list of texts, not empty. */
    public List<String> texts(String key, int maxItems, int maxLength) {
        return texts(key, items(key, 1, maxItems), maxLength);
    }

    /** Empty where there is none. */
    public List<String> optionalTexts(String key, int maxItems, int maxLength) {
        return value(key) == null ? List.of() : texts(key, items(key, 0, maxItems), maxLength);
    }

    private List<String> texts(String key, List<JsonNode> items, int maxLength) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            if (!items.get(i).isString()) {
                wrongType(key + "/" + i, "a string", items.get(i));
                continue;
            }
            String text = checked(items.get(i).stringValue(), key + "/" + i, maxLength);
            if (text != null && text.isBlank()) {
                problem("EMPTY", key + "/" + i, "may not be blank");
            } else if (text != null) {
                texts.add(text);
            }
        }
        return texts;
    }

    /** Lines as {@link #lenientText}; the first {@code maxItems} are kept. */
    public List<String> lenientTexts(String key, int maxItems) {
        if (value(key) == null) {
            return List.of();
        }
        List<String> texts = new ArrayList<>();
        List<JsonNode> items = items(key, 0, Integer.MAX_VALUE);
        for (int i = 0; i < Math.min(maxItems, items.size()); i++) {
            if (items.get(i).isString()) {
                texts.add(SafeText.clean(items.get(i).stringValue()));
            } else {
                wrongType(key + "/" + i, "a string", items.get(i));
            }
        }
        return texts;
    }

    /** Required bytes in base64, at most {@code max} of them. */
    public byte[] bytes(String key, int max) {
        JsonNode value = value(key);
        if (value == null) {
            missing(key);
        } else if (!value.isString()) {
            wrongType(key, "a string", value);
        } else {
            try {
                byte[] bytes = Base64.getDecoder().decode(value.stringValue());
                if (bytes.length <= max) {
                    return bytes;
                }
                problem("TOO_LONG", key, "at most " + max + " bytes, not " + bytes.length);
            } catch (IllegalArgumentException e) {
                problem("INVALID_VALUE", key, "is not base64");
            }
        }
        return new byte[0];
    }

    /** New budgets of tasks, in USD by the tasks' ids; each more than 0. Empty where there is none. */
    public Map<String, BigDecimal> taskBudgets() {
        Fields tasks = object("tasks");
        Map<String, BigDecimal> budgets = new TreeMap<>();
        for (String task : tasks == null ? List.<String>of() : tasks.names()) {
            BigDecimal budget = tasks.requiredCredits(task);
            if (task.length() > MAX_TASK || !SafeText.clean(task).equals(task)) {
                problem("INVALID_VALUE", "tasks", "the id of a task has at most " + MAX_TASK + " characters");
            } else {
                budgets.put(task, budget);
            }
        }
        return budgets;
    }

    /** A list of objects; empty where there is none and {@code min} is 0. */
    public List<Fields> objects(String key, int min, int max) {
        if (min == 0 && value(key) == null) {
            return List.of();
        }
        List<Fields> objects = new ArrayList<>();
        List<JsonNode> items = items(key, min, max);
        for (int i = 0; i < items.size(); i++) {
            if (items.get(i) instanceof ObjectNode item) {
                objects.add(new Fields(item, this, key + "/" + i));
            } else {
                wrongType(key + "/" + i, "an object", items.get(i));
            }
        }
        return objects;
    }

    /** An object; null where there is none. */
    @Nullable public Fields object(String key) {
        JsonNode value = value(key);
        if (value == null) {
            return null;
        }
        if (!(value instanceof ObjectNode object)) {
            wrongType(key, "an object", value);
            return null;
        }
        return new Fields(object, this, key);
    }
}
