package io.keelson.bench.report;

import java.util.List;

/** Tables that read well as plain text, too. */
final class Markdown {

    private Markdown() {}

    /** @param lines the header first; all of one length */
    static String table(List<List<String>> lines) {
        int[] widths = new int[lines.getFirst().size()];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(Math.max(widths[i], 3), line.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> line : lines) {
            text.append(row(line, widths));
            if (text.indexOf("\n") == text.length() - 1) {
                text.append(row(line.stream().map(cell -> "").toList(), widths).replace(' ', '-').replace("|-", "| ")
                        .replace("-|", " |"));
            }
        }
        return text.toString();
    }

    private static String row(List<String> cells, int[] widths) {
        StringBuilder text = new StringBuilder("|");
        for (int i = 0; i < widths.length; i++) {
            text.append(' ').append(cells.get(i)).append(" ".repeat(widths[i] - cells.get(i).length())).append(" |");
        }
        return text.append('\n').toString();
    }
}
