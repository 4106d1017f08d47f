package io.keelson.bench.contender;

import java.util.List;
import java.util.Map;

/**
 * The place of a contender.
 *
 * @param jdbc URL of its own, empty database
 * @param folder its own, absolute; made before it starts
 * @param cache absolute; downloads are kept here
 * @param jvm options of each JVM that it starts, such as its heap
 * @param options further options of the scenario, such as {@code executors} or {@code nodes}
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
