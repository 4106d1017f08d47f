package io.keelson.devmodel;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** Server-sent events of one answer. */
final class EventList {

    private static final int CHUNK_SIZE = 16;

    private final List<String> events = new ArrayList<>();

    /** An event without a name. */
    void data(String data) {
        events.add("data: " + data + "\n\n");
    }

    void event(String name, JsonNode data) {
        events.add("event: " + name + "\ndata: " + data + "\n\n");
    }

    List<String> all() {
        return List.copyOf(events);
    }

    /** Gives the text in pieces of 16 characters, which never end within a character. */
    static void pieces(String text, Consumer<String> each) {
        int from = 0;
        while (from < text.length()) {
            int to = Math.min(from + CHUNK_SIZE, text.length());
            if (to < text.length() && Character.isLowSurrogate(text.charAt(to))) {
                to++;
            }
            each.accept(text.substring(from, to));
            from = to;
        }
    }
}
