package io.keelson.server.outlet.notice;

import io.keelson.server.base.json.Json;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The body for an incoming webhook of Slack: Block Kit. Texts of others are plain text with the three control characters escaped,
 * so they mention and link nothing; the blocks of the largest message are below Slack's 50, its texts below 3,000 characters.
 */
public final class SlackMessage {

    private static final int MAX_HEADER = 150;
    private static final int MAX_TEXT = 3_000;
    private static final int MAX_FIELD = 2_000;
    /** Slack names no bound of a body; texts of 40,000 characters are cut. */
    private static final int MAX_BYTES = 40_000;

    private SlackMessage() {}

    /** The body as JSON. */
    public static String of(List<Notice> notices) {
        String title = Notice.titleOf(notices);
        return Notice.message(notices, shown -> of(title, shown), MAX_BYTES);
    }

    private static String of(String title, List<Notice> notices) {
        ObjectNode message = Json.object();
        // For notifications of devices. Slack does not scan this text and the blocks for names.
        message.put("text", escaped(title, MAX_TEXT)).put("mrkdwn", false)
                .put("parse", "none").put("link_names", false).put("unfurl_links", false).put("unfurl_media", false);
        ArrayNode blocks = message.putArray("blocks");
        for (Notice notice : notices) {
            blocks.addObject().put("type", "header").set("text", plain(notice.title(), MAX_HEADER));
            if (!notice.text().isEmpty()) {
                blocks.addObject().put("type", "section").set("text", plain(notice.text(), MAX_TEXT));
            }
            if (!notice.facts().isEmpty()) {
                ArrayNode fields = blocks.addObject().put("type", "section").putArray("fields");
                notice.facts().forEach(fact -> fields.add(plain(fact.name() + ": " + fact.value(), MAX_FIELD)));
            }
            if (!notice.links().isEmpty()) {
                blocks.addObject().put("type", "section").putObject("text").put("type", "mrkdwn").put("verbatim", true)
                        .put("text", notice.links().stream().map(SlackMessage::link)
                                .collect(Collectors.joining("   ")));
            }
        }
        return message.toString();
    }

    /** Links in place of buttons: a press of a button also sends a request, which an incoming webhook has no receiver for. */
    private static String link(Notice.Link link) {
        return "<" + escaped(link.url(), MAX_TEXT) + "|" + escaped(link.title(), MAX_HEADER) + ">";
    }

    private static ObjectNode plain(String text, int most) {
        return Json.object().put("type", "plain_text").put("text", escaped(text, most)).put("emoji", false);
    }

    /** Bounded after the escapes, of which none is cut. */
    private static String escaped(String text, int most) {
        StringBuilder escaped = new StringBuilder();
        for (int point : text.codePoints().toArray()) {
            String next = switch (point) {
                case '&' -> "&amp;";
                case '<' -> "&lt;";
                case '>' -> "&gt;";
                default -> Character.toString(point);
            };
            if (escaped.length() + next.length() > most) {
                break;
            }
            escaped.append(next);
        }
        return escaped.toString();
    }
}
