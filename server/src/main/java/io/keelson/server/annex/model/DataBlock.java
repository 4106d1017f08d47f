package io.keelson.server.annex.model;

import java.util.regex.Pattern;

/** Marks text as data, so that a model tells it from its instructions. The text cannot contain the end of the mark. */
public final class DataBlock {
    private static final Pattern TAG = Pattern.compile("<(/?)data", Pattern.CASE_INSENSITIVE);

    private DataBlock() {}

    /** @param from where the text is from, such as a tool's name */
    public static String around(String from, String text) {
        return "<data from=\"" + from.replace("\"", "'").replace("<", "").replace(">", "") + "\">\n"
                + TAG.matcher(text).replaceAll("<$1 data") + "\n</data>";
    }
}
