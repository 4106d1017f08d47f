package io.keelson.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** Lines over a logarithmic scale as SVG, each labelled where it ends. */
final class Plot {
    private static final int WIDTH = 760;
    private static final int HEIGHT = 400;
    private static final int LEFT = 70;
    private static final int RIGHT = 560;
    private static final int TOP = 50;
    private static final int BOTTOM = 350;
    private static final int LABEL_HEIGHT = 16;
    private static final String[] COLOURS = {"#0b6e4f", "#3d9970", "#c0392b", "#8e44ad", "#b9770e", "#2c6fbb"};

    private final String title;
    private final List<String> positions;
    private final Map<String, List<OptionalDouble>> lines;
    private final double least;
    private final double most;

    /**
     * @param positions the labels along the bottom
     * @param lines by name, a value for each position; values that are not above zero are omitted
     */
    Plot(String title, List<String> positions, Map<String, List<OptionalDouble>> lines) {
        this.title = title;
        this.positions = positions;
        this.lines = lines;
        double[] values = lines.values().stream().flatMap(List::stream).flatMapToDouble(OptionalDouble::stream)
                .filter(value -> value > 0).sorted().toArray();
        least = values.length == 0 ? 1 : Math.pow(10, Math.floor(Math.log10(values[0])));
        most = values.length == 0 ? 10
                : Math.max(10 * least, Math.pow(10, Math.ceil(Math.log10(values[values.length - 1]))));
    }

    private record Point(double x, double y) {}

    private record Label(String text, String colour, double y) {}

    String svg() {
        StringBuilder svg = new StringBuilder();
        line(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                + " font-size=\"13\">", WIDTH, HEIGHT);
        line(svg, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>", WIDTH, HEIGHT);
        text(svg, LEFT, 26, "start", "#111", title);
        grid(svg);
        List<Label> labels = new ArrayList<>();
        int next = 0;
        for (Map.Entry<String, List<OptionalDouble>> each : lines.entrySet()) {
            String colour = COLOURS[next++ % COLOURS.length];
            List<Point> points = points(each.getValue());
            if (!points.isEmpty()) {
                draw(svg, points, colour);
                labels.add(new Label(each.getKey(), colour, points.getLast().y));
            }
        }
        label(svg, labels);
        return svg.append("</svg>\n").toString();
    }

    private void grid(StringBuilder svg) {
        for (double value = least; value <= most * 1.001; value *= 10) {
            line(svg, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>", LEFT, y(value), RIGHT);
            text(svg, LEFT - 8, y(value) + 4, "end", "#555", String.format(Locale.ROOT, "%,.0f", value));
        }
        for (int i = 0; i < positions.size(); i++) {
            text(svg, x(i), BOTTOM + 22, "middle", "#555", positions.get(i));
        }
    }

    private List<Point> points(List<OptionalDouble> values) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            double value = values.get(i).orElse(0);
            if (value > 0) {
                points.add(new Point(x(i), y(value)));
            }
        }
        return points;
    }

    private static void draw(StringBuilder svg, List<Point> points, String colour) {
        StringBuilder path = new StringBuilder();
        for (Point point : points) {
            path.append(String.format(Locale.ROOT, "%s%.1f %.1f", path.isEmpty() ? "M" : "L", point.x, point.y));
            line(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>", point.x, point.y, colour);
        }
        line(svg, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>", path, colour);
    }

    /** From top to bottom, each pushed down where it would cover the one above. */
    private static void label(StringBuilder svg, List<Label> labels) {
        double free = 0;
        for (Label label : labels.stream().sorted(Comparator.comparingDouble(Label::y)).toList()) {
            double y = Math.max(free, label.y);
            text(svg, RIGHT + 10, y + 4, "start", label.colour, label.text);
            free = y + LABEL_HEIGHT;
        }
    }

    private double x(int position) {
        return LEFT + 20 + (RIGHT - LEFT - 40.0) * position / Math.max(1, positions.size() - 1);
    }

    private double y(double value) {
        return BOTTOM - (BOTTOM - TOP) * Math.log(value / least) / Math.log(most / least);
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String colour, String text) {
        line(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>", x, y, anchor, colour,
                text.replace("&", "&amp;").replace("<", "&lt;"));
    }

    private static void line(StringBuilder svg, String form, Object... values) {
        svg.append(String.format(Locale.ROOT, form, values)).append('\n');
    }
}
