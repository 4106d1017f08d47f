package io.keelson.server.base.json;

import java.util.regex.Pattern;

/** Pieces of a request within an answer: short, and safe to send. */
public final class Excerpt {

    private static final Pattern SETTING = Pattern.compile(", from `[^`]*`");
    private static final int PIECE_LENGTH = 60;
    private static final int MESSAGE_LENGTH = 200;

    private Excerpt() {}

    public static String piece(String text) {
        return cut(text, PIECE_LENGTH);
    }

    /** The beginning of a parser's message, which may quote the document at length; without the names of its settings. */
    public static String firstLine(String message) {
        return cut(SETTING.matcher(message).replaceAll("").lines().findFirst().orElse(""), MESSAGE_LENGTH);
    }

    private static String cut(String text, int length) {
        return SafeText.clean(text.length() <= length ? text : text.substring(0, length) + "…");
    }
}
