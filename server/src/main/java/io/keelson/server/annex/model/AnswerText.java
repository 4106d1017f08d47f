package io.keelson.server.annex.model;

import java.util.List;

/** Takes an answer out of the text that models put around it. */
public final class AnswerText {
    private static final List<String> REASONING = List.of("think", "thinking");
    private static final String FENCE = "```";

    private AnswerText() {}

    /** The text after the reasoning in tags that it begins with. */
    public static String withoutReasoning(String text) {
        for (String tag : REASONING) {
            String begun = text.stripLeading();
            int end = begun.startsWith("<" + tag + ">") ? begun.indexOf("</" + tag + ">") : -1;
            if (end >= 0) {
                return withoutReasoning(begun.substring(end + tag.length() + 3).strip());
            }
        }
        return text;
    }

    /** The text of the JSON value in an answer: without reasoning before it, and out of its fence. */
    public static String json(String text) {
        String value = withoutReasoning(text).strip();
        for (String tag : REASONING) {
            int end = isJson(value) ? -1 : value.lastIndexOf("</" + tag + ">");
            value = end < 0 ? value : value.substring(end + tag.length() + 3).strip();
        }
        int fence = isJson(value) ? -1 : value.indexOf(FENCE);
        int line = fence < 0 ? -1 : value.indexOf('\n', fence);
        int close = line < 0 ? -1 : value.indexOf("\n" + FENCE, line);
        return close < 0 ? value : value.substring(line, close).strip();
    }

    private static boolean isJson(String text) {
        return text.startsWith("{") || text.startsWith("[") || text.startsWith("\"");
    }
}
