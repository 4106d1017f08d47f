package io.keelson.server.outlet.notice;

import io.keelson.server.base.json.SafeText;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A message for people: plain texts, of which each service gets its own form. Its constructor bounds all texts.
 *
 * @param title one line
 * @param text several lines; empty if absent
 * @param facts names and values, each of one line
 * @param links addresses of this installation, the first for the usual action
 */
public record Notice(String title, String text, List<Fact> facts, List<Link> links) {

    /** Maximum notices of one message. */
    public static final int MAX_OF_MESSAGE = 10;

    private static final String UNTITLED = "Notification";
    private static final int MAX_TITLE = 140;
    private static final int MAX_TEXT = 1_500;
    private static final int MAX_TEXT_OF_SEVERAL = 300;
    private static final int MAX_FACTS_OF_SEVERAL = 4;
    private static final int MAX_VALUE = 200;
    private static final int MAX_FACTS = 8;
    private static final int MAX_LINKS = 2;

    /** A name and its value. */
    public record Fact(String name, String value) {

        public Fact {
            value = line(value, MAX_VALUE);
        }
    }

    /**
     * A link.
     *
     * @param title of few words
     * @param url of this installation
     */
    public record Link(String title, String url) {}

    public Notice {
        title = title.isBlank() ? UNTITLED : line(title, MAX_TITLE);
        text = block(text, MAX_TEXT);
        facts = facts.stream().limit(MAX_FACTS).toList();
        links = links.stream().limit(MAX_LINKS).toList();
    }

    /** How much of each notice a message has: all; less of the text, as in a message of several; titles and links. */
    private enum Extent {
        ALL, SHORT, TITLES;

        Notice of(Notice notice) {
            return switch (this) {
                case ALL -> notice;
                case SHORT -> new Notice(notice.title, block(notice.text, MAX_TEXT_OF_SEVERAL),
                        notice.facts.stream().limit(MAX_FACTS_OF_SEVERAL).toList(), notice.links);
                case TITLES -> new Notice(notice.title, "", List.of(), notice.links);
            };
        }
    }

    /**
     * A message that a service takes.
     *
     * @param form of the notices as the message shows them
     * @param mostBytes in UTF-8
     */
    static String message(List<Notice> notices, Function<List<Notice>, String> form, int mostBytes) {
        String message = "";
        for (Extent extent : Extent.values()) {
            if (extent != Extent.ALL || notices.size() == 1) {
                message = form.apply(notices.stream().limit(MAX_OF_MESSAGE).map(extent::of).toList());
                if (message.getBytes(StandardCharsets.UTF_8).length <= mostBytes) {
                    return message;
                }
            }
        }
        return message;
    }

    /** The title of a message. */
    static String titleOf(List<Notice> notices) {
        return notices.size() == 1 ? notices.getFirst().title : notices.size() + " notifications of Keelson";
    }

    /** One line without invisible characters; a cut one ends with an ellipsis. */
    static String line(@Nullable String text, int most) {
        return cut(visible(text, false), most);
    }

    private static String block(String text, int most) {
        return cut(visible(text, true), most);
    }

    private static String visible(@Nullable String text, boolean lines) {
        StringBuilder kept = new StringBuilder();
        SafeText.clean(text == null ? "" : text).codePoints().forEach(point -> {
            if (point == '\n' && lines || !SafeText.hides(point)) {
                kept.appendCodePoint(point);
            } else if (Character.isWhitespace(point)) {
                kept.append(' ');
            }
        });
        return kept.toString().strip();
    }

    private static String cut(String text, int most) {
        return text.codePointCount(0, text.length()) <= most ? text
                : text.substring(0, text.offsetByCodePoints(0, most - 1)) + "…";
    }
}
