package io.keelson.cli.follow;

import io.keelson.cli.view.EventLines;
import io.keelson.cli.view.RunModel;
import io.keelson.cli.view.Style;
import io.keelson.client.Event;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** A line with its time for each thing worth telling, for pipes and logs. */
final class PlainDisplay implements Display {

    private static final Duration BETWEEN_PROGRESS = Duration.ofSeconds(2);

    private final PrintWriter out;
    private Instant lastProgress = Instant.MIN;
    private String lastLine = "";
    private boolean lost;

    PlainDisplay(PrintWriter out) {
        this.out = out;
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
            out.println("the server is not reachable, retrying");
            out.flush();
        }
    }

    @Override
    public synchronized void show(RunModel model, Instant now) {
        if (lost) {
            lost = false;
            out.println("the server is reachable again");
            out.flush();
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
