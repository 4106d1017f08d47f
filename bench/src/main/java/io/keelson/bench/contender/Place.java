package io.keelson.bench.contender;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a contender lives.
 *
 * @param jdbc URL of its own, empty database
 * @param folder its own, absolute; made before it starts
 * @param options what else the scenario asks of it, such as {@code executors} or {@code nodes}
 */
public record Place(String jdbc, String user, String password, String folder, Map<String, String> options) {

    public Place {
        options = Map.copyOf(options);
    }

    public int option(String name, int otherwise) {
        String given = options.get(name);
        return given == null ? otherwise : Integer.parseInt(given);
    }

    public @Nullable String option(String name) {
        return options.get(name);
    }
}
