package io.keelson.cli.view;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jline.utils.WCWidth;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Text measured in terminal columns. */
public final class TerminalText {

    private static final Pattern STYLE = Pattern.compile("\u001b\\[[0-9;]*m");

    private TerminalText() {}

    /** Foreign text on one line and harmless: no control characters, so no escape sequences. Empty for null. */
    public static String clean(@Nullable String text) {
        return text == null ? "" : visible(text).strip();
    }

    /** Cleans a text like {@link #clean}, but keeps the blanks at both ends. */
    public static String visible(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints().forEach(point -> {
            boolean control = Character.isISOControl(point) || Character.getType(point) == Character.FORMAT
                    || Character.getType(point) == Character.SURROGATE || point == 0x2028 || point == 0x2029;
            clean.appendCodePoint(control ? ' ' : point);
        });
        return clean.toString();
    }

    /** Foreign JSON on several lines, each harmless. */
    public static List<String> json(JsonNode document) {
        return document.toPrettyString().lines().map(TerminalText::visible).toList();
    }

    /** The text of a member, clean; empty where it has none. */
    public static String text(JsonNode document, String member) {
        return clean(document.path(member).asString(""));
    }

    /** The texts of some members. */
    public static List<String> texts(JsonNode document, String... members) {
        return Stream.of(members).map(member -> text(document, member)).toList();
    }

    /** A line for each member that has a value. */
    public static List<String> members(JsonNode document) {
        return document.properties().stream().filter(member -> !member.getValue().isNull())
                .map(member -> member.getKey() + ": " + clean(member.getValue().isString()
                        ? member.getValue().stringValue()
                        : member.getValue().toString()))
                .toList();
    }

    /** Columns that the text takes; dress (colours) takes none. */
    public static int width(String text) {
        return STYLE.matcher(text).replaceAll("").codePoints().map(TerminalText::columns).sum();
    }

    /** The text, cut to the columns with an ellipsis where it is longer; its dress is kept whole. */
    public static String fit(String text, int columns, Style style) {
        if (width(text) <= columns) {
            return text;
        }
        int room = Math.max(0, columns - width(style.ellipsis()));
        StringBuilder cut = new StringBuilder();
        Matcher dress = STYLE.matcher(text);
        boolean dressed = false;
        int at = 0;
        while (at < text.length()) {
            if (dress.region(at, text.length()).lookingAt()) {
                cut.append(dress.group());
                dressed = true;
                at = dress.end();
                continue;
            }
            int point = text.codePointAt(at);
            room -= columns(point);
            if (room < 0) {
                break;
            }
            cut.appendCodePoint(point);
            at += Character.charCount(point);
        }
        return cut.append(columns > 0 ? style.ellipsis() : "").append(dressed ? "\u001b[0m" : "").toString();
    }

    /**
     * The text in lines of so many columns, broken between words; only a longer word is broken within.
     *
     * @param columns 0 for no bound
     * @param indent before each line but the first
     */
    public static List<String> wrap(String text, int columns, String indent) {
        if (columns == 0 || width(text) <= columns) {
            return List.of(text);
        }
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.toString().isBlank() && width(line + " " + word) > columns) {
                lines.add(line.toString());
                line.setLength(0);
                line.append(indent);
            } else if (!line.isEmpty()) {
                line.append(' ');
            }
            for (int point : word.codePoints().toArray()) {
                if (width(line.toString()) + columns(point) > columns && width(indent) < columns - 1) {
                    lines.add(line.toString());
                    line.setLength(0);
                    line.append(indent);
                }
                line.appendCodePoint(point);
            }
        }
        lines.add(line.toString());
        return lines;
    }

    /** With blanks behind, up to the columns. */
    public static String pad(String text, int columns) {
        return text + " ".repeat(Math.max(0, columns - width(text)));
    }

    private static int columns(int point) {
        return Math.max(0, WCWidth.wcwidth(point));
    }
}
