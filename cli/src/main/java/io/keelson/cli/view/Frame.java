package io.keelson.cli.view;

import java.util.List;

/** Redrawing lines in place with ANSI sequences. */
public final class Frame {

    private static final String ESC = "\u001b[";

    private Frame() {}

    /** Output that replaces the old lines by the new ones, with the cursor on the line below. */
    public static String redraw(int old, List<String> lines) {
        return (old == 0 ? "" : "\r" + ESC + old + "A") + text(lines);
    }

    /**
     * Redraws from the top of the screen. After a resize the old lines' positions are unknown: some terminals wrap what
     * no longer fits, some cut it, and some bring back lines that had left the screen.
     */
    public static String fromTop(List<String> lines) {
        return ESC + "H" + text(lines);
    }

    private static String text(List<String> lines) {
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            text.append(line).append(ESC).append("K\r\n");
        }
        return text.append(ESC).append('J').toString();
    }
}
