package io.keelson.cli.follow;

import io.keelson.api.run.Event;
import io.keelson.cli.view.EventLines;
import io.keelson.cli.view.RunModel;
import io.keelson.cli.view.Style;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;

/** A line with its time for each thing worth telling, for pipes and logs. */
final class PlainDisplay implements Display {

    private static final Duration BETWEEN_PROGRESS = Duration.ofSeconds(2);

    private final PrintWriter out;
    private final Consumer<String> notes;
    private Instant lastProgress = Instant.MIN;
    private String lastLine = "";
    private boolean lost;
    private boolean slow;

    /** @param notes receives what concerns the server and not the run */
    PlainDisplay(PrintWriter out, Consumer<String> notes) {
        this.out = out;
        this.notes = notes;
    }

    @Override
    public synchronized void happened(List<Event> events, RunModel model) {
        for (Event event : events) {
            String line = EventLines.line(event, model, Style.PLAIN);
            if (line != null) {
                out.println(line);
            }
        }
        out.flush();
    }

    @Override
    public synchronized void unanswered(Duration since) {
        if (!lost) {
            lost = true;
            notes.accept("the server is not reachable, retrying");
        }
    }

    @Override
    public synchronized void slow(Duration since) {
        if (!slow) {
            slow = true;
            notes.accept("the server answers slowly");
        }
    }

    @Override
    public synchronized void show(RunModel model, Instant now) {
        if (lost) {
            lost = false;
            notes.accept("the server is reachable again");
        }
        if (lastProgress.plus(BETWEEN_PROGRESS).isAfter(now)) {
            return;
        }
        lastProgress = now;
        String line = EventLines.progress(model);
        if (line != null && !line.equals(lastLine)) {
            lastLine = line;
            out.println(EventLines.stamped(line, now));
            out.flush();
        }
    }

    @Override
    public void close() {
        out.flush();
    }
}
