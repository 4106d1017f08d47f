package io.keelson.server.process;

/** How much of a fault is enough: a little of it in {@code ./check}, much of it with {@code -Dkeelson.long=true}. */
public final class Amount {
    private static final boolean LONG = Boolean.getBoolean("keelson.long");

    private Amount() {}

    public static int of(int usual, int inLongMode) {
        return LONG ? inLongMode : usual;
    }
}
