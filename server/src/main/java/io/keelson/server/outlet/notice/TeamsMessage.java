package io.keelson.server.outlet.notice;

import io.keelson.server.base.json.Json;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The body for a workflow of Teams that receives webhooks: an Adaptive Card. Texts of others are in rich text blocks, whose runs
 * have no Markdown, and the card names no mentions. The largest message is below the 28 KB of Teams.
 */
public final class TeamsMessage {

    /** Teams takes 28 KB. */
    private static final int MAX_BYTES = 27_000;

    private TeamsMessage() {}

    /** The body as JSON. */
    public static String of(List<Notice> notices) {
        String title = Notice.titleOf(notices);
        return Notice.message(notices, shown -> of(title, shown), MAX_BYTES);
    }

    private static String of(String title, List<Notice> notices) {
        ObjectNode card = Json.object().put("type", "AdaptiveCard").put("version", "1.4");
        ArrayNode body = card.putArray("body");
        for (Notice notice : notices) {
            ArrayNode items = body.addObject().put("type", "Container").put("separator", !body.isEmpty())
                    .putArray("items");
            text(items, notice.title()).put("weight", "bolder").put("size", "medium");
            if (!notice.text().isEmpty()) {
                notice.text().lines().filter(line -> !line.isBlank()).forEach(line -> text(items, line));
            }
            notice.facts().forEach(fact -> text(items, fact.name() + ": " + fact.value()).put("isSubtle", true));
            if (!notice.links().isEmpty()) {
                ArrayNode actions = items.addObject().put("type", "ActionSet").putArray("actions");
                notice.links().forEach(link -> actions.addObject().put("type", "Action.OpenUrl")
                        .put("title", link.title()).put("url", link.url()));
            }
        }
        ObjectNode message = Json.object().put("type", "message").put("summary", title);
        ObjectNode attachment = message.putArray("attachments").addObject()
                .put("contentType", "application/vnd.microsoft.card.adaptive").putNull("contentUrl");
        attachment.set("content", card);
        return message.toString();
    }

    private static ObjectNode text(ArrayNode items, String line) {
        ObjectNode run = items.addObject().put("type", "RichTextBlock").putArray("inlines").addObject();
        return run.put("type", "TextRun").put("text", line);
    }
}
