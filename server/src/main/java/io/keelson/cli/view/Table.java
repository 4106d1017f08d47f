package io.keelson.cli.view;

import java.util.ArrayList;
import java.util.List;

/** Lines of columns under a heading. The last column is not padded and takes what is left. */
public final class Table {

    private final List<List<String>> rows = new ArrayList<>();
    private final int columns;

    public Table(String... headings) {
        this.columns = headings.length;
        row(headings);
    }

    public Table row(String... cells) {
        if (cells.length != columns) {
            throw new IllegalArgumentException(cells.length + " cells for " + columns + " columns");
        }
        rows.add(List.of(cells));
        return this;
    }

    /** @param width no line is longer; 0 for no bound */
    public List<String> lines(int width, Style style) {
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], Cells.width(row.get(i)));
            }
        }
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns - 1; i++) {
                line.append(Cells.pad(row.get(i), widths[i])).append("  ");
            }
            line.append(row.getLast());
            String text = line.toString().stripTrailing();
            String fitted = width > 0 ? Cells.fit(text, width, style) : text;
            lines.add(lines.isEmpty() ? style.dim(fitted) : fitted);
        }
        return lines;
    }
}
