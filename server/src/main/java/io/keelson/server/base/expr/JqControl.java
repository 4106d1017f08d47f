package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/** Nodes that decide which others run: conditions, errors, loops, bindings, functions. */
final class JqControl {

    private static final JqError NO_ERROR = new JqError(NullNode.instance);

    private JqControl() {}

    /** Runs a body whose own errors are handled; errors of the receiver of its values pass. */
    static void caught(Consumer<JqOut> body, JqOut out, Consumer<JqError> handler) {
        Object self = new Object();
        try {
            body.accept((value, path) -> {
                try {
                    out.emit(value, path);
                } catch (JqError e) {
                    throw new JqError.Exit(self, e);
                }
            });
        } catch (JqError e) {
            handler.accept(e);
        } catch (JqError.Exit e) {
            throw e.isOf(self) ? e.error() : e;
        }
    }

    /** The first value; null when there is none. */
    static @Nullable JsonNode first(JqNode node, JqEnv env, JsonNode in) {
        JsonNode[] found = new JsonNode[1];
        Object self = new Object();
        until(self, () -> node.values(env, in, value -> {
            found[0] = value;
            throw leave(self);
        }));
        return found[0];
    }

    static JqError.Exit leave(Object owner) {
        return new JqError.Exit(owner, NO_ERROR);
    }

    /** Runs until something leaves that owner. */
    static void until(Object owner, Runnable body) {
        try {
            body.run();
        } catch (JqError.Exit e) {
            if (!e.isOf(owner)) {
                throw e;
            }
        }
    }

    /** {@code if … then … else … end}. */
    record If(JqNode condition, JqNode then, JqNode otherwise) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            condition.values(env, in, value -> (JqValue.isTrue(value) ? then : otherwise).run(env, in, path, out));
        }

        @Override
        public List<JqNode> children() {
            return List.of(condition, then, otherwise);
        }
    }

    /** {@code try body catch handler}, {@code body?}. */
    record Try(JqNode body, @Nullable JqNode handler) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            caught(each -> body.run(env, in, path, each), out, error -> {
                if (handler != null) {
                    handler.run(env, error.value(), JqPath.made(path), out);
                }
            });
        }

        @Override
        public List<JqNode> children() {
            return handler == null ? List.of(body) : List.of(body, handler);
        }
    }

    /** {@code label $name | body}; {@code name} is the parser's object for that label. */
    record Label(Object name, JqNode body) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            Object self = new Object();
            until(self, () -> body.run(env.with(name, self), in, path, out));
        }

        @Override
        public List<JqNode> children() {
            return List.of(body);
        }
    }

    /** {@code break $name}. */
    record Break(Object name) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            throw leave(env.meaning(name));
        }

        @Override
        public List<JqNode> children() {
            return List.of();
        }
    }

    /** {@code source as patterns | body}; the patterns after the first are tried after an error. */
    record Bind(JqNode source, JqPattern.Choice patterns, JqNode body) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            source.values(env, in, value -> patterns.bind(env, value, out,
                    (bound, each) -> body.run(bound, in, path, each)));
        }

        @Override
        public List<JqNode> children() {
            List<JqNode> children = new ArrayList<>(List.of(source, body));
            children.addAll(patterns.keys());
            return children;
        }
    }

    /** {@code reduce source as patterns (start; update)}: the last value of each update, null where it has none. */
    record Reduce(JqNode source, JqPattern.Choice patterns, JqNode start, JqNode update) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            start.run(env, in, path, (first, at) -> {
                State state = new State(first, at);
                source.values(env, in, value -> {
                    JsonNode before = state.value;
                    JqPath from = state.path;
                    state.set(NullNode.instance, JqPath.made(path));
                    patterns.bind(env, value, state::set, (bound, each) -> update.run(bound, before, from, each));
                });
                out.emit(state.value, state.path);
            });
        }

        @Override
        public List<JqNode> children() {
            List<JqNode> children = new ArrayList<>(List.of(source, start, update));
            children.addAll(patterns.keys());
            return children;
        }
    }

    /** {@code foreach source as patterns (start; update; extract)}. */
    record Foreach(JqNode source, JqPattern.Choice patterns, JqNode start, JqNode update, @Nullable JqNode extract)
            implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            start.run(env, in, path, (first, at) -> {
                State state = new State(first, at);
                source.values(env, in, value -> {
                    JsonNode before = state.value;
                    JqPath from = state.path;
                    state.set(NullNode.instance, JqPath.made(path));
                    patterns.bind(env, value, out, (bound, each) -> update.run(bound, before, from, (next, to) -> {
                        state.set(next, to);
                        if (extract == null) {
                            each.emit(next, to);
                        } else {
                            extract.run(bound, next, to, each);
                        }
                    }));
                });
            });
        }

        @Override
        public List<JqNode> children() {
            List<JqNode> children = new ArrayList<>(List.of(source, start, update));
            children.addAll(patterns.keys());
            if (extract != null) {
                children.add(extract);
            }
            return children;
        }
    }

    /** The value of a loop so far. */
    private static final class State {
        private JsonNode value;
        private @Nullable JqPath path;

        private State(JsonNode value, @Nullable JqPath path) {
            this.value = value;
            this.path = path;
        }

        private void set(JsonNode next, @Nullable JqPath at) {
            value = next;
            path = at;
        }
    }
}
