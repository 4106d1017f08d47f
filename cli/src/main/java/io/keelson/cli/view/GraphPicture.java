package io.keelson.cli.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** The dependencies of a run's tasks as an SVG document that loads nothing and suits light and dark surroundings. */
public final class GraphPicture {

    private static final int MARGIN = 16;
    private static final int BEND = 16;
    private static final int TEXT_X = 14;
    private static final String STYLE = """
            <style>
              text { font: 13px system-ui, sans-serif; fill: #17202b } text.more { font-size: 11px; fill: #525e6d }
              path { fill: none; stroke: #8a94a1; stroke-width: 1.5 } rect { fill: #ffffff; stroke: #c9d0d9 }
              .waiting { fill: #818490 } .active { fill: #1c6caa } .human { fill: #893578 } .retry { fill: #cc8401 }
              .done { fill: #04946a } .failed { fill: #c24500 } .dropped { fill: #5f6163 } rect.side { stroke: none }
              @media (prefers-color-scheme: dark) {
                text { fill: #e5eaf0 } text.more { fill: #9fabb9 } rect { fill: #141a22; stroke: #3a4655 }
              }
            </style>""";

    private final JsonNode graph;
    private final int boxWidth;
    private final int boxHeight;

    private GraphPicture(JsonNode graph) {
        this.graph = graph;
        this.boxWidth = graph.get("box_width").asInt();
        this.boxHeight = graph.get("box_height").asInt();
    }

    /** @param graph the answer of {@code GET /runs/{id}/graph} */
    public static List<String> lines(JsonNode graph) {
        return new GraphPicture(graph).lines();
    }

    private List<String> lines() {
        List<String> lines = new ArrayList<>();
        int width = graph.get("width").asInt() + 2 * MARGIN;
        int height = graph.get("height").asInt() + 2 * MARGIN;
        lines.add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"%d %d %1$d %2$d\">"
                .formatted(width, height, -MARGIN, -MARGIN));
        lines.add(STYLE);
        for (int i = 0; i < graph.at("/edges/from").size(); i++) {
            lines.add(edge(i));
        }
        for (int i = 0; i < graph.at("/boxes/id").size(); i++) {
            lines.addAll(box(i));
        }
        lines.add("</svg>");
        return lines;
    }

    private JsonNode box(String member, int i) {
        return graph.get("boxes").get(member).get(i);
    }

    /** From the right side of one box to the left side of the other. */
    private String edge(int i) {
        JsonNode edges = graph.get("edges");
        int from = edges.get("from").get(i).asInt();
        int to = edges.get("to").get(i).asInt();
        List<Integer> points = new ArrayList<>(List.of(box("x", from).asInt() + boxWidth,
                box("y", from).asInt() + boxHeight / 2));
        edges.get("bends").get(i).forEach(each -> points.add(each.asInt()));
        points.addAll(List.of(box("x", to).asInt(), box("y", to).asInt() + boxHeight / 2));
        StringBuilder path = new StringBuilder("M" + points.get(0) + " " + points.get(1));
        for (int at = 2; at < points.size(); at += 2) {
            int bend = Math.max(BEND, (points.get(at) - points.get(at - 2)) / 2);
            path.append(" C%d %d %d %d %d %d".formatted(points.get(at - 2) + bend, points.get(at - 1),
                    points.get(at) - bend, points.get(at + 1), points.get(at), points.get(at + 1)));
        }
        return "<path d=\"" + path + "\"/>";
    }

    /** A document of its own, which cuts a long title off at the box's side. */
    private List<String> box(int i) {
        String title = text(box("title", i));
        JsonNode states = box("states", i);
        boolean single = box("kind", i).stringValue().equals("task");
        String more = states.propertyStream().map(each -> single ? text(each.getKey())
                : each.getValue().asInt() + " " + text(each.getKey())).collect(Collectors.joining(", "));
        String phase = states.propertyNames().stream().map(Phase::of).min(Enum::compareTo).orElse(Phase.WAITING).name()
                .toLowerCase(Locale.ROOT);
        return List.of(
                "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">".formatted(box("x", i).asInt(), box("y", i).asInt(),
                        boxWidth, boxHeight),
                "  <title>" + title + (more.isEmpty() ? "" : ": " + more) + "</title>",
                "  <rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"6\"/><rect class=\"side %s\" width=\"4\" height=\"%d\"/>"
                        .formatted(boxWidth - 1, boxHeight - 1, phase, boxHeight),
                "  <text x=\"" + TEXT_X + "\" y=\"20\">" + title + "</text>",
                "  <text class=\"more\" x=\"" + TEXT_X + "\" y=\"37\">" + more + "</text>",
                "</svg>");
    }

    private static String text(JsonNode text) {
        return text(text.asString(""));
    }

    private static String text(String text) {
        return TerminalText.clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
