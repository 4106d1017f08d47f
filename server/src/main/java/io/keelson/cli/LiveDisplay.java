package io.keelson.cli;

import io.keelson.cli.view.Frame;
import io.keelson.cli.view.RunModel;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.TreeView;
import io.keelson.client.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.List;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/** The task tree of a run, redrawn in place. Safe for closing from another thread. */
final class LiveDisplay implements Display {

    private static final String HIDE_CURSOR = "\u001b[?25l";
    private static final String SHOW_CURSOR = "\u001b[?25h";
    private static final int DEFAULT_COLUMNS = 80;
    private static final int DEFAULT_ROWS = 24;

    private final Terminal terminal;
    private final Style style;
    private List<String> shown = List.of();
    private int tick;
    private boolean ended;

    LiveDisplay(Style style) {
        this.style = style;
        try {
            this.terminal = TerminalBuilder.builder().system(true).dumb(true).build();
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
        Size size = terminal.getSize();
        int columns = size.getColumns() > 0 ? size.getColumns() : DEFAULT_COLUMNS;
        int rows = size.getRows() > 0 ? size.getRows() : DEFAULT_ROWS;
        // the last column stays free, for some terminals wrap as soon as it is written
        List<String> lines = TreeView.render(model, columns - 1, rows - 1, now, tick++, style);
        terminal.writer().write(HIDE_CURSOR + Frame.redraw(shown, lines, columns));
        terminal.flush();
        shown = lines;
    }

    @Override
    public synchronized void close() {
        terminal.writer().write(SHOW_CURSOR);
        terminal.flush();
        shown = List.of();
    }

    /** Closes it for good. */
    synchronized void end() {
        close();
        ended = true;
    }
}
