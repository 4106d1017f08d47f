package io.keelson.server.outlet.notice;

import java.util.List;

/**
 * A mail: plain text, and the same in simple HTML, in which texts of others are escaped.
 *
 * @param subject one line
 */
record MailMessage(String subject, String plain, String html) {

    private static final String BEGIN = """
            <!doctype html><html lang="en"><body style="font:15px/1.5 system-ui,sans-serif;max-width:40rem">
            """;

    static MailMessage of(List<Notice> notices) {
        StringBuilder plain = new StringBuilder();
        StringBuilder html = new StringBuilder(BEGIN);
        for (Notice notice : notices) {
            add(notice, plain, html);
        }
        return new MailMessage(Notice.titleOf(notices), plain.toString(), html.append("</body></html>\n").toString());
    }

    private static void add(Notice notice, StringBuilder plain, StringBuilder html) {
        plain.append(notice.title()).append("\n\n");
        html.append("<h2 style=\"font-size:18px\">").append(escaped(notice.title())).append("</h2>\n");
        if (!notice.text().isEmpty()) {
            plain.append(notice.text()).append("\n\n");
            html.append("<p style=\"white-space:pre-wrap\">").append(escaped(notice.text())).append("</p>\n");
        }
        if (!notice.facts().isEmpty()) {
            html.append("<table>\n");
            for (Notice.Fact fact : notice.facts()) {
                plain.append(fact.name()).append(": ").append(fact.value()).append('\n');
                html.append("<tr><td>").append(escaped(fact.name())).append("</td><td>").append(escaped(fact.value()))
                        .append("</td></tr>\n");
            }
            plain.append('\n');
            html.append("</table>\n");
        }
        for (Notice.Link link : notice.links()) {
            plain.append(link.title()).append(": ").append(link.url()).append('\n');
            html.append("<p><a href=\"").append(escaped(link.url())).append("\">").append(escaped(link.title()))
                    .append("</a></p>\n");
        }
        plain.append('\n');
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
