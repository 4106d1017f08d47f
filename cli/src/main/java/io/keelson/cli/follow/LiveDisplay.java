package io.keelson.cli.follow;

import io.keelson.api.run.Event;
import io.keelson.cli.view.Frame;
import io.keelson.cli.view.RunModel;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.TerminalText;
import io.keelson.cli.view.TreeView;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/**
 * The task tree of a run, redrawn in place. Safe for closing from another thread. The terminal is only asked for its
 * size: on shutdown, JLine closes it at any moment, while output must still be written.
 */
final class LiveDisplay implements Display {

    private static final String HIDE_CURSOR = "\u001b[?25l";
    private static final String SHOW_CURSOR = "\u001b[?25h";
    private static final int DEFAULT_COLUMNS = 80;
    private static final int DEFAULT_ROWS = 24;

    private final Terminal terminal;
    private final PrintWriter out;
    private final Style style;
    private Size size = new Size(DEFAULT_COLUMNS, DEFAULT_ROWS);
    /** Lines on the screen. */
    private int shown;
    /** The last message of the server. */
    private List<String> known = List.of();
    private int tick;
    private boolean ended;

    LiveDisplay(Terminal terminal, PrintWriter out, Style style) {
        this.terminal = terminal;
        this.out = out;
        this.style = style;
    }

    static LiveDisplay onTerminal(PrintWriter out, Style style) {
        try {
            return new LiveDisplay(TerminalBuilder.builder().system(true).dumb(true).build(), out, style);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void happened(List<Event> events, RunModel model) {
        // the next redraw shows what came of them
    }

    @Override
    public synchronized void show(RunModel model, Instant now) {
        if (ended) {
            return;
        }
        Size before = size;
        size = measure();
        // the last column stays free, for some terminals wrap as soon as it is written
        known = TreeView.render(model, columns() - 1, rows() - 1, now, tick++, style);
        draw(known, before);
    }

    @Override
    public void unanswered(Duration since) {
        warn("the server is not reachable, retrying", since);
    }

    @Override
    public void slow(Duration since) {
        warn("the server answers slowly", since);
    }

    private synchronized void warn(String what, Duration since) {
        if (ended) {
            return;
        }
        Size before = size;
        size = measure();
        List<String> lines = new ArrayList<>(known.stream().limit(Math.max(0, rows() - 2L))
                .map(line -> TerminalText.fit(line, columns() - 1, style)).toList());
        lines.add(style.yellow(TerminalText.fit(what + " (" + since.toSeconds() + "s)", columns() - 1, style)));
        draw(lines, before);
    }

    private void draw(List<String> lines, Size before) {
        boolean resized = shown > 0 && !size.equals(before);
        out.write(HIDE_CURSOR + (resized ? Frame.fromTop(lines) : Frame.redraw(shown, lines)));
        out.flush();
        shown = lines.size();
    }

    private int rows() {
        return size.getRows() > 0 ? size.getRows() : DEFAULT_ROWS;
    }

    private int columns() {
        return size.getColumns() > 0 ? size.getColumns() : DEFAULT_COLUMNS;
    }

    private Size measure() {
        try {
            return terminal.getSize();
        } catch (IllegalStateException e) {
            return size; // closed
        }
    }

    @Override
    public synchronized void close() {
        out.write(SHOW_CURSOR);
        out.flush();
        shown = 0;
    }

    @Override
    public synchronized void end() {
        close();
        ended = true;
    }
}
