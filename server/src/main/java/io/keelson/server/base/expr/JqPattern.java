package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/** A pattern behind {@code as}: a variable, or a list or an object of patterns. */
sealed interface JqPattern {

    /** Binds its variables to each way that the value fits. */
    void bind(JqEnv env, JsonNode value, Consumer<JqEnv> each);

    /** The programs in it. */
    List<JqNode> keys();

    /** @param name the parser's object for the variable */
    record Name(Object name) implements JqPattern {
        @Override
        public void bind(JqEnv env, JsonNode value, Consumer<JqEnv> each) {
            each.accept(env.with(name, value));
        }

        @Override
        public List<JqNode> keys() {
            return List.of();
        }
    }

    record Items(List<JqPattern> items) implements JqPattern {
        @Override
        public void bind(JqEnv env, JsonNode value, Consumer<JqEnv> each) {
            if (!value.isArray() && !value.isNull()) {
                throw JqError.of("Cannot index " + JqValue.type(value) + " with number (0)");
            }
            bind(env, value, 0, each);
        }

        private void bind(JqEnv env, JsonNode value, int from, Consumer<JqEnv> each) {
            if (from == items.size()) {
                each.accept(env);
                return;
            }
            JsonNode item = JqAccess.get(value, JqNumber.of(from), env.budget());
            items.get(from).bind(env, item, bound -> bind(bound, value, from + 1, each));
        }

        @Override
        public List<JqNode> keys() {
            return items.stream().flatMap(item -> item.keys().stream()).toList();
        }
    }

    record Fields(List<Field> fields) implements JqPattern {

        /** @param name a variable for the member itself, or null */
        record Field(JqNode key, @Nullable Object name, @Nullable JqPattern value) {}

        @Override
        public void bind(JqEnv env, JsonNode value, Consumer<JqEnv> each) {
            bind(env, value, 0, each);
        }

        private void bind(JqEnv env, JsonNode value, int from, Consumer<JqEnv> each) {
            if (from == fields.size()) {
                each.accept(env);
                return;
            }
            Field field = fields.get(from);
            field.key.values(env, value, key -> {
                if (!key.isString()) {
                    throw JqError.of("Cannot index " + JqValue.type(value) + " with " + JqValue.shown(key));
                }
                JsonNode member = JqAccess.get(value, key, env.budget());
                JqEnv named = field.name == null ? env : env.with(field.name, member);
                if (field.value == null) {
                    bind(named, value, from + 1, each);
                } else {
                    field.value.bind(named, member, bound -> bind(bound, value, from + 1, each));
                }
            });
        }

        @Override
        public List<JqNode> keys() {
            List<JqNode> keys = new ArrayList<>();
            fields.forEach(field -> {
                keys.add(field.key);
                if (field.value != null) {
                    keys.addAll(field.value.keys());
                }
            });
            return keys;
        }
    }

    /**
     * Patterns with {@code ?//} between them.
     *
     * @param names the variables of all alternatives; null in alternatives that do not bind them
     */
    record Choice(List<JqPattern> patterns, List<Object> names) {

        /** Runs the body for the first pattern that neither fails itself nor in the body; the last one's error remains. */
        void bind(JqEnv env, JsonNode value, JqOut out, BiConsumer<JqEnv, JqOut> body) {
            JqEnv start = env;
            for (Object name : names) {
                start = start.with(name, NullNode.instance);
            }
            bind(start, value, out, body, 0);
        }

        private void bind(JqEnv env, JsonNode value, JqOut out, BiConsumer<JqEnv, JqOut> body, int from) {
            JqPattern pattern = patterns.get(from);
            if (from == patterns.size() - 1) {
                pattern.bind(env, value, bound -> body.accept(bound, out));
            } else {
                JqControl.caught(each -> pattern.bind(env, value, bound -> body.accept(bound, each)), out,
                        error -> bind(env, value, out, body, from + 1));
            }
        }

        List<JqNode> keys() {
            return patterns.stream().flatMap(pattern -> pattern.keys().stream()).toList();
        }
    }
}
