package io.keelson.bench.contender;

import java.util.List;
import java.util.Map;

/**
 * Where a contender lives.
 *
 * @param jdbc URL of its own, empty database
 * @param folder its own, absolute; made before it starts
 * @param cache absolute; what was downloaded once stays here
 * @param jvm options of each JVM that it starts, such as its heap
 * @param options what else the scenario asks of it, such as {@code executors} or {@code nodes}
 */
public record Place(String jdbc, String user, String password, String folder, String cache,
        List<String> jvm, Map<String, String> options) {

    public Place {
        jvm = List.copyOf(jvm);
        options = Map.copyOf(options);
    }

    public int option(String name, int otherwise) {
        String given = options.get(name);
        return given == null ? otherwise : Integer.parseInt(given);
    }

    /** Its database as Keelson's settings name it. */
    public String postgresUrl() {
        return "postgresql://" + user + ":" + password + "@" + jdbc.substring(jdbc.indexOf("//") + 2);
    }
}
