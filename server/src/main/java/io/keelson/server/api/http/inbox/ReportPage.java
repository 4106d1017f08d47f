package io.keelson.server.api.http.inbox;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.NodeRenderer;
import org.commonmark.renderer.html.HtmlNodeRendererContext;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * Reports as HTML pages. Their Markdown has texts of agents and tools: HTML in it is shown as text, addresses of other schemes
 * than http, https and mailto are removed, and images are links, so that a page loads nothing.
 */
final class ReportPage {

    private static final String STYLE =
            """
            :root{color-scheme:light dark;--line:#e3e7ec;--soft:#525e6d;--sunken:#f1f4f7;--link:#0a529b}
            @media(prefers-color-scheme:dark){:root{--line:#242d38;--soft:#9fabb9;--sunken:#1a222c;--link:#79b8f7}body{background:#141a22;color:#e5eaf0}}
            body{margin:0;padding:20px 24px;font:14px/1.6 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere;max-width:760px}
            h1{font-size:20px;line-height:1.3;margin:0 0 12px}h2{font-size:15px;margin:24px 0 8px}h3,h4,h5,h6{font-size:14px;margin:16px 0 6px}
            p,ul,ol,pre,table,blockquote{margin:0 0 12px}li{margin:2px 0}a{color:var(--link)}
            code,pre{font:12.5px/1.6 ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace}code{background:var(--sunken);padding:1px 4px;border-radius:4px}
            pre{background:var(--sunken);padding:12px 14px;border-radius:8px;white-space:pre-wrap}pre code{padding:0;background:none}
            blockquote{border-left:3px solid var(--line);padding:2px 0 2px 14px;color:var(--soft)}
            table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid var(--line);padding:5px 10px;text-align:left}
            hr{border:0;border-top:1px solid var(--line)}""";

    /** The policy for such a page, in a frame of the dashboard or by itself: no scripts, no requests, no origin. */
    static final String POLICY =
            "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'sha256-"
                    + sha256(STYLE) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

    private static final List<Extension> TABLES = List.of(TablesExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(TABLES).build();
    private static final HtmlRenderer RENDERER = HtmlRenderer.builder().extensions(TABLES).escapeHtml(true)
            .sanitizeUrls(true).nodeRendererFactory(ImageAsLink::new)
            .attributeProviderFactory(_ -> (node, _, attributes) -> {
                if (node instanceof Link) {
                    attributes.put("target", "_blank");
                    attributes.put("rel", "noopener noreferrer nofollow");
                }
            }).build();

    private ReportPage() {}

    /** @param title of the page, as text */
    static byte[] of(String title, String markdown) {
        String html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title)
                + "</title><style>" + STYLE + "</style></head>\n<body>\n" + RENDERER.render(PARSER.parse(markdown))
                + "</body></html>\n";
        return html.getBytes(StandardCharsets.UTF_8);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }

    private static String sha256(String text) {
        try {
            return Base64.getEncoder().encodeToString(
                    MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Shows an image as a link to it. */
    private static final class ImageAsLink implements NodeRenderer {

        private final HtmlNodeRendererContext context;

        ImageAsLink(HtmlNodeRendererContext context) {
            this.context = context;
        }

        @Override
        public Set<Class<? extends Node>> getNodeTypes() {
            return Set.of(Image.class);
        }

        @Override
        public void render(Node node) {
            Link link = new Link(((Image) node).getDestination(), null);
            for (Node child = node.getFirstChild(); child != null; child = node.getFirstChild()) {
                link.appendChild(child);
            }
            context.render(link);
        }
    }
}
