package io.keelson.cli.runs;

import io.keelson.api.run.Step;
import io.keelson.client.AnswerStream;
import io.keelson.client.AnswerStream.Part;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Prints the text of turns line by line while it arrives, each turn on a thread of its own. */
final class LiveTurns {

    /** Prints a line of a turn. Called by many threads. */
    interface Printer {
        void print(Step step, int epoch, String line);
    }

    private final Keelson keelson;
    private final Printer printer;
    private final Map<String, Thread> turns = new HashMap<>();
    private final Set<String> printed = ConcurrentHashMap.newKeySet();

    LiveTurns(Keelson keelson, Printer printer) {
        this.keelson = keelson;
        this.printer = printer;
    }

    /** Follows a running turn. */
    void follow(Step step) {
        if (step.kind().equals("turn") && step.completedAt() == null) {
            turns.computeIfAbsent(step.id(), id -> Thread.ofVirtual().start(() -> read(step)));
        }
    }

    /** Waits for the end of an ended turn's text, if it follows it. Whether the text of its result is printed. */
    boolean shown(String step) {
        Thread turn = turns.get(step);
        if (turn == null) {
            return false;
        }
        try {
            turn.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return printed.contains(step);
    }

    private void read(Step step) {
        try (AnswerStream stream = keelson.steps().answer(step.id())) {
            StringBuilder text = new StringBuilder();
            int shown = 0;
            for (Part part = stream.next(); part != null; part = stream.next()) {
                String arrived = part.text();
                switch (part.type()) {
                    case "text" -> {
                        text.append(arrived);
                        shown = lines(step, part.epoch(), text.toString(), shown);
                    }
                    case "superseded" -> {
                        printer.print(step, part.epoch(), "(the text begins again: the execution was repeated)");
                        text.setLength(0);
                        shown = 0;
                    }
                    default -> answer(step, part, text.toString(), shown);
                }
            }
        } catch (KeelsonException e) {
            printer.print(step, 0, "(the text cannot be followed: " + e.code() + ")");
        }
    }

    /** Prints whole lines; answers the characters that are printed. */
    private int lines(Step step, int epoch, String text, int shown) {
        int from = shown;
        for (int end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', from)) {
            printer.print(step, epoch, text.substring(from, end));
            from = end + 1;
        }
        return from;
    }

    private void answer(Step step, Part answer, String seen, int shown) {
        @Nullable String stored = answer.text();
        String text = stored == null ? seen : stored;
        boolean same = text.length() >= shown && text.startsWith(seen.substring(0, shown));
        String rest = same ? text.substring(shown) : text;
        if (!rest.isEmpty()) {
            printer.print(step, answer.epoch(), rest);
        }
        if (stored != null) {
            printed.add(step.id());
        }
    }
}
