package io.keelson.server.api.http.support;

import io.javalin.http.HandlerType;
import io.keelson.server.tenant.auth.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A route.
 *
 * @param path with its parameters in braces
 * @param open whether no API key is required
 * @param scope the key's required scope; null if any key suffices
 * @param body the record that the body is bound to; null if the action reads the body itself
 */
public record Route(HandlerType method, String path, boolean open, @Nullable Scope scope, @Nullable Class<?> body,
        Action action) {

    private static final String API = "/api/v1";
    private static final Pattern COMMANDS = Pattern.compile("^" + API + "/(commands|deployments|orders)(/|$)");

    /**
     * Whether the route supports idempotency keys. Reports of workers are identified by the lease epoch; a response with
     * an API key, a session or the secret of a webhook is never stored; commands and MCP tools handle their keys themselves.
     */
    public boolean keyed() {
        return method == HandlerType.POST && keyed(path);
    }

    /** Whether it counts for a POST to this path. */
    public static boolean keyed(String path) {
        return !path.startsWith(API + "/dispatch/") && !path.contains("/api-keys") && !path.contains("/sessions")
                && !path.contains("/webhooks") && !path.equals("/mcp")
                && !COMMANDS.matcher(path).find();
    }

    /** Whether it only reads. */
    boolean reads() {
        return method == HandlerType.GET;
    }

    /** As {@code METHOD /path}. */
    public String name() {
        return method.name() + " " + path;
    }

    /** Whether the path of a request is this route's. */
    public boolean matches(String requested) {
        String[] wanted = path.split("/", -1);
        String[] given = requested.split("/", -1);
        boolean same = wanted.length == given.length;
        for (int i = 0; same && i < wanted.length; i++) {
            same = wanted[i].startsWith("{") || wanted[i].equals(given[i]);
        }
        return same;
    }

    /** The routes in the order they were added. Each says whether it asks for a key, and what that must have. */
    public static final class Table {

        private final List<Route> routes = new ArrayList<>();

        /** Under {@code /api/v1}. */
        public Table get(Scope scope, String path, Action action) {
            return add(HandlerType.GET, API + path, scope, null, action);
        }

        /** Without a body. */
        public Table post(Scope scope, String path, Action action) {
            return post(scope, path, NoBody.class, bodiless(action));
        }

        public <T> Table post(Scope scope, String path, Class<T> body, BodyAction<T> action) {
            return add(HandlerType.POST, API + path, scope, body, action);
        }

        /** With a body that the action reads itself: a mission, or bytes. */
        public Table postRaw(Scope scope, String path, Action action) {
            return add(HandlerType.POST, API + path, scope, null, action);
        }

        public <T> Table patch(Scope scope, String path, Class<T> body, BodyAction<T> action) {
            return add(HandlerType.PATCH, API + path, scope, body, action);
        }

        public <T> Table put(Scope scope, String path, Class<T> body, BodyAction<T> action) {
            return add(HandlerType.PUT, API + path, scope, body, action);
        }

        /** With a body that the action reads itself. */
        public Table putRaw(Scope scope, String path, Action action) {
            return add(HandlerType.PUT, API + path, scope, null, action);
        }

        public Table delete(Scope scope, String path, Action action) {
            return add(HandlerType.DELETE, API + path, scope, NoBody.class, bodiless(action));
        }

        /** Under {@code /api/v1}, and where a published contract has it. */
        public Table getAlso(Scope scope, String path, Action action) {
            return get(scope, path, action).add(HandlerType.GET, path, scope, null, action);
        }

        public Table postAlso(Scope scope, String path, Action action) {
            return postAlso(scope, path, NoBody.class, bodiless(action));
        }

        public <T> Table postAlso(Scope scope, String path, Class<T> body, BodyAction<T> action) {
            return post(scope, path, body, action).add(HandlerType.POST, path, scope, body, action);
        }

        public Table postRawAlso(Scope scope, String path, Action action) {
            return postRaw(scope, path, action).add(HandlerType.POST, path, scope, null, action);
        }

        public Table deleteAlso(Scope scope, String path, Action action) {
            return delete(scope, path, action).add(HandlerType.DELETE, path, scope, NoBody.class, bodiless(action));
        }

        /** Under {@code /api/v1}, for any API key. */
        public Table getByAnyKey(String path, Action action) {
            return add(HandlerType.GET, API + path, null, null, action);
        }

        /** At the root, for everybody. */
        public Table getOpen(String path, Action action) {
            routes.add(new Route(HandlerType.GET, path, true, null, null, action));
            return this;
        }

        /** At the root, for any API key, with a body that the action reads itself. */
        public Table postRawAtRoot(String path, Action action) {
            return add(HandlerType.POST, path, null, null, action);
        }

        /** Adds a route below {@code /api/v1} without authentication; the action checks its own requirements. */
        public <T> Table postOpen(String path, Class<T> body, BodyAction<T> action) {
            routes.add(new Route(HandlerType.POST, API + path, true, null, body,
                    request -> action.answer(request, request.body(body))));
            return this;
        }

        /** Under {@code /api/v1}, for any API key. */
        public <T> Table postByAnyKey(String path, Class<T> body, BodyAction<T> action) {
            return add(HandlerType.POST, API + path, null, body, action);
        }

        /** Under {@code /api/v1}, for any API key. */
        public Table deleteByAnyKey(String path, Action action) {
            return add(HandlerType.DELETE, API + path, null, NoBody.class, bodiless(action));
        }

        private <T> Table add(HandlerType method, String path, @Nullable Scope scope, Class<T> body,
                BodyAction<T> action) {
            return add(method, path, scope, body, request -> action.answer(request, request.body(body)));
        }

        private Table add(HandlerType method, String path, @Nullable Scope scope, @Nullable Class<?> body,
                Action action) {
            routes.add(new Route(method, path, false, scope, body, action));
            return this;
        }

        private static BodyAction<NoBody> bodiless(Action action) {
            return (request, _) -> action.answer(request);
        }

        public List<Route> routes() {
            return List.copyOf(routes);
        }
    }
}
