package io.keelson.cli.view;

import java.util.List;

/** Redrawing lines in place with ANSI sequences. */
public final class Frame {

    private static final String ESC = "\u001b[";

    private Frame() {}

    /**
     * What to send so that new lines stand where old ones stood, the cursor on the line below. A terminal that became
     * narrower has wrapped the old lines, so they take more rows than they are.
     *
     * @param columns the terminal's width now
     */
    public static String redraw(List<String> old, List<String> lines, int columns) {
        StringBuilder text = new StringBuilder();
        int rows = old.stream().mapToInt(line -> rows(line, columns)).sum();
        if (rows > 0) {
            text.append('\r').append(ESC).append(rows).append('A');
        }
        for (String line : lines) {
            text.append(line).append(ESC).append("K\r\n");
        }
        return text.append(ESC).append('J').toString();
    }

    private static int rows(String line, int columns) {
        int width = Cells.width(line);
        return width == 0 || columns <= 0 ? 1 : (width + columns - 1) / columns;
    }
}
