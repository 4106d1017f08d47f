package io.keelson.server.http;

import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.List;

/**
 * One route that is served.
 *
 * @param path with its parameters in braces
 * @param open true when no API key is asked for
 */
record Route(HandlerType method, String path, boolean open, Action action) {

    private static final String API = "/api/v1";

    /** Whether an idempotency key counts there. What workers report is told apart by its lease's epoch. */
    boolean keyed() {
        return method == HandlerType.POST && keyed(path);
    }

    /** Whether it counts for a POST to this path. */
    static boolean keyed(String path) {
        return !path.startsWith(API + "/dispatch/");
    }

    /** Whether the path of a request is this route's. */
    boolean matches(String requested) {
        String[] wanted = path.split("/", -1);
        String[] given = requested.split("/", -1);
        boolean same = wanted.length == given.length;
        for (int i = 0; same && i < wanted.length; i++) {
            same = wanted[i].startsWith("{") || wanted[i].equals(given[i]);
        }
        return same;
    }

    /** The routes in the order they were added. */
    static final class Table {

        private final List<Route> routes = new ArrayList<>();

        /** Under {@code /api/v1}. */
        Table get(String path, Action action) {
            return add(HandlerType.GET, API + path, false, action);
        }

        Table post(String path, Action action) {
            return add(HandlerType.POST, API + path, false, action);
        }

        Table put(String path, Action action) {
            return add(HandlerType.PUT, API + path, false, action);
        }

        /** Under {@code /api/v1}, and where a published contract has it. */
        Table getAlso(String path, Action action) {
            return get(path, action).add(HandlerType.GET, path, false, action);
        }

        Table postAlso(String path, Action action) {
            return post(path, action).add(HandlerType.POST, path, false, action);
        }

        /** At the root, for everybody. */
        Table getOpen(String path, Action action) {
            return add(HandlerType.GET, path, true, action);
        }

        private Table add(HandlerType method, String path, boolean open, Action action) {
            routes.add(new Route(method, path, open, action));
            return this;
        }

        List<Route> routes() {
            return List.copyOf(routes);
        }
    }
}
