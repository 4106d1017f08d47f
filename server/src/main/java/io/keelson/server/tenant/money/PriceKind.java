package io.keelson.server.tenant.money;

import java.util.Arrays;
import java.util.Locale;

/** The kinds of prices. */
public enum PriceKind {
    /** A price per call. */
    TOOL,
    /** Per million tokens, by their kind. */
    MODEL;

    /** As documents and the database have it. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException when no kind is called so */
    public static PriceKind of(String wire) {
        return Arrays.stream(values()).filter(kind -> kind.wire().equals(wire)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no kind of price " + wire));
    }
}
