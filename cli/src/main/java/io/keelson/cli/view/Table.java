package io.keelson.cli.view;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Lines of columns under a heading, which fit the terminal: empty columns are left out and the widest shortened
 * where they do not. */
public final class Table {

    /** Names in the first column are copied into commands, so that no id there is cut. */
    private static final int LONGEST_ID = 41;
    /** The time and 12 random bits of a run's id; commands accept the first characters of one. */
    private static final int RUN_ID_START = 18;
    private static final int NARROWEST = 4;
    private static final String GAP = "  ";

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

    public List<String> lines(Style style) {
        return tooWide(style) && hasEmpty() ? withoutEmpty().lines(style) : fitted(style);
    }

    private boolean tooWide(Style style) {
        return style.columns() > 0 && Arrays.stream(content()).sum() + (columns - 1) * GAP.length() > style.columns();
    }

    private boolean hasEmpty() {
        return IntStream.range(0, columns).anyMatch(this::empty);
    }

    /** No row has anything there; the heading does not count. */
    private boolean empty(int column) {
        return column > 0 && rows.size() > 1 && rows.stream().skip(1).allMatch(row -> row.get(column).isEmpty());
    }

    /** The table without columns that only have a heading. */
    Table withoutEmpty() {
        int[] kept = IntStream.range(0, columns).filter(column -> !empty(column)).toArray();
        Table table = new Table(cells(rows.getFirst(), kept));
        rows.stream().skip(1).forEach(row -> table.row(cells(row, kept)));
        return table;
    }

    private static String[] cells(List<String> row, int[] kept) {
        return Arrays.stream(kept).mapToObj(row::get).toArray(String[]::new);
    }

    private List<String> fitted(Style style) {
        int[] widths = widths(style);
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                line.append(i == 0 ? "" : GAP)
                        .append(TerminalText.pad(TerminalText.fit(row.get(i), widths[i], style), widths[i]));
            }
            String text = line.toString().stripTrailing();
            String fitted = style.columns() == 0 ? text : TerminalText.fit(text, style.columns(), style);
            lines.add(lines.isEmpty() ? style.dim(fitted) : fitted);
        }
        return lines;
    }

    private int[] content() {
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], TerminalText.width(row.get(i)));
            }
        }
        return widths;
    }

    private int[] widths(Style style) {
        int[] widths = content();
        int surplus = style.columns() == 0 ? 0
                : Arrays.stream(widths).sum() + (columns - 1) * GAP.length() - style.columns();
        for (int widest = widest(widths, style); surplus > 0 && widest >= 0; widest = widest(widths, style)) {
            widths[widest]--;
            surplus--;
        }
        return widths;
    }

    /** The widest column that can be shortened; -1 when none can. */
    private int widest(int[] widths, Style style) {
        int widest = -1;
        for (int i = 0; i < columns; i++) {
            if (widths[i] > narrowest(i, style) && (widest < 0 || widths[i] >= widths[widest])) {
                widest = i;
            }
        }
        return widest;
    }

    private int narrowest(int column, Style style) {
        String heading = rows.getFirst().get(column);
        return heading.equals("RUN") ? RUN_ID_START + TerminalText.width(style.ellipsis())
                : column == 0 ? LONGEST_ID : Math.max(NARROWEST, TerminalText.width(heading));
    }
}
