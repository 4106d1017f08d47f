package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A node of a program: gives any number of values for an input. */
interface JqNode {

    /** @param path the path of the input where paths are followed, else null */
    void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out);

    /** The nodes directly below. */
    List<? extends JqNode> children();

    /** The values alone. */
    default void values(JqEnv env, JsonNode in, Consumer<JsonNode> each) {
        run(env, in, null, (value, path) -> each.accept(value));
    }

    /** {@code .} */
    record Identity() implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            out.emit(in, path);
        }

        @Override
        public List<JqNode> children() {
            return List.of();
        }
    }

    record Literal(JsonNode value) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            out.emit(value, JqPath.made(path));
        }

        @Override
        public List<JqNode> children() {
            return List.of();
        }
    }

    /** {@code $name}; {@code name} is the parser's object for that binding. */
    record Variable(Object name) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            out.emit(env.variable(name), JqPath.made(path));
        }

        @Override
        public List<JqNode> children() {
            return List.of();
        }
    }

    record Pipe(JqNode left, JqNode right) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            left.run(env, in, path, (value, at) -> right.run(env, value, at, out));
        }

        @Override
        public List<JqNode> children() {
            return List.of(left, right);
        }
    }

    record Comma(JqNode left, JqNode right) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            left.run(env, in, path, out);
            right.run(env, in, path, out);
        }

        @Override
        public List<JqNode> children() {
            return List.of(left, right);
        }
    }

    /** {@code target[key]}, {@code target.name}. */
    record Index(JqNode target, JqNode key) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            key.values(env, in, at -> target.run(env, in, path, (value, from) -> read(env, value, from, at, out)));
        }

        static void read(JqEnv env, JsonNode value, @Nullable JqPath from, JsonNode key, JqOut out) {
            env.budget().step();
            if (from != null) {
                JqPath.checked(from, "access element " + JqText.shown(key), value);
            }
            JsonNode found = JqAccess.get(value, key, env.budget());
            if (key.isContainer()) {
                env.budget().produced(found);
            }
            out.emit(found, JqPath.below(from, key));
        }

        @Override
        public List<JqNode> children() {
            return List.of(target, key);
        }
    }

    /** {@code target[from:to]}. */
    record Slice(JqNode target, JqNode from, JqNode to) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            to.values(env, in, end -> from.values(env, in, start -> target.run(env, in, path,
                    (value, at) -> Index.read(env, value, at, JqAccess.sliceKey(start, end), out))));
        }

        @Override
        public List<JqNode> children() {
            return List.of(target, from, to);
        }
    }

    /** {@code target[]}. */
    record Each(JqNode target) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            target.run(env, in, path, (value, at) -> items(env, value, at, out));
        }

        static void items(JqEnv env, JsonNode value, @Nullable JqPath path, JqOut out) {
            if (path != null && path.broken()) {
                throw JqError.of("Invalid path expression near attempt to iterate through " + JqText.shown(value));
            }
            if (value.isArray()) {
                for (int i = 0; i < value.size(); i++) {
                    env.budget().step();
                    out.emit(value.get(i), path == null ? null : JqPath.below(path, JqNumber.of(i)));
                }
            } else if (value.isObject()) {
                for (var each : value.properties()) {
                    env.budget().step();
                    out.emit(each.getValue(), path == null ? null : JqPath.below(path, JqValue.text(each.getKey())));
                }
            } else {
                throw JqError.of("Cannot iterate over " + JqValue.shown(value));
            }
        }

        @Override
        public List<JqNode> children() {
            return List.of(target);
        }
    }

    /** {@code ..} */
    record Recurse() implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            out.emit(in, path);
            if (in.isContainer()) {
                Each.items(env, in, path, (value, at) -> run(env, value, at, out));
            }
        }

        @Override
        public List<JqNode> children() {
            return List.of();
        }
    }

    /** {@code [items]}, {@code []}. */
    record ArrayOf(@Nullable JqNode items) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            out.emit(collect(env, items, in), JqPath.made(path));
        }

        static ArrayNode collect(JqEnv env, @Nullable JqNode items, JsonNode in) {
            ArrayNode array = JsonNodeFactory.instance.arrayNode();
            if (items != null) {
                EvaluationBudget budget = env.budget();
                long[] bytes = new long[1];
                items.values(env, in, value -> {
                    budget.step();
                    bytes[0] += 8 + budget.weigh(value);
                    budget.checkValue(bytes[0]);
                    array.add(value);
                });
                budget.produced(array);
            }
            return array;
        }

        @Override
        public List<JqNode> children() {
            return items == null ? List.of() : List.of(items);
        }
    }

    /** {@code {key: value, …}}. */
    record ObjectOf(List<Field> fields) implements JqNode {

        record Field(JqNode key, JqNode value) {}

        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            add(env, in, 0, JsonNodeFactory.instance.objectNode(), object -> {
                env.budget().produced(object);
                out.emit(object, JqPath.made(path));
            });
        }

        private void add(JqEnv env, JsonNode in, int from, ObjectNode object, Consumer<ObjectNode> each) {
            if (from == fields.size()) {
                each.accept(object);
                return;
            }
            Field field = fields.get(from);
            field.key.values(env, in, key -> {
                if (!key.isString()) {
                    throw JqError.of("Object keys must be strings");
                }
                field.value.values(env, in, value -> {
                    ObjectNode longer = JqValue.copy(object);
                    longer.set(key.stringValue(), value);
                    add(env, in, from + 1, longer, each);
                });
            });
        }

        @Override
        public List<JqNode> children() {
            List<JqNode> children = new ArrayList<>();
            fields.forEach(field -> {
                children.add(field.key);
                children.add(field.value);
            });
            return children;
        }
    }

    /** A text with {@code \( )}; values stand in it as the format writes them. */
    record Text(List<JqNode> parts, JqFormat format) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            add(env, in, parts.size() - 1, "", text -> {
                JsonNode value = JqValue.text(text);
                env.budget().produced(value);
                out.emit(value, JqPath.made(path));
            });
        }

        private void add(JqEnv env, JsonNode in, int at, String after, Consumer<String> each) {
            if (at < 0) {
                each.accept(after);
            } else if (parts.get(at) instanceof Literal literal) {
                add(env, in, at - 1, literal.value.stringValue() + after, each);
            } else {
                parts.get(at).values(env, in,
                        value -> add(env, in, at - 1, format.of(value, env.budget()) + after, each));
            }
        }

        @Override
        public List<JqNode> children() {
            return parts;
        }
    }

    /** {@code -value}. */
    record Negation(JqNode value) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            value.values(env, in, each -> {
                if (!each.isNumber()) {
                    throw JqError.of(JqValue.shown(each) + " cannot be negated");
                }
                out.emit(JqNumber.negate(each), JqPath.made(path));
            });
        }

        @Override
        public List<JqNode> children() {
            return List.of(value);
        }
    }

    /** Arithmetic and comparison. */
    record Operation(JqOperator operator, JqNode left, JqNode right) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            right.values(env, in, b -> left.values(env, in,
                    a -> out.emit(operator.of(a, b, env.budget()), JqPath.made(path))));
        }

        @Override
        public List<JqNode> children() {
            return List.of(left, right);
        }
    }

    /** {@code and}, {@code or}. */
    record Logic(boolean and, JqNode left, JqNode right) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            left.values(env, in, a -> {
                if (JqValue.isTrue(a) == and) {
                    right.values(env, in, b -> out.emit(JqValue.bool(JqValue.isTrue(b)), JqPath.made(path)));
                } else {
                    out.emit(JqValue.bool(!and), JqPath.made(path));
                }
            });
        }

        @Override
        public List<JqNode> children() {
            return List.of(left, right);
        }
    }

    /** {@code left // right}: the true values of the left, errors ignored, else the values of the right. */
    record Otherwise(JqNode left, JqNode right) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            boolean[] any = new boolean[1];
            JqControl.caught(each -> left.run(env, in, path, (value, at) -> {
                if (JqValue.isTrue(value)) {
                    any[0] = true;
                    each.emit(value, at);
                }
            }), out, error -> {});
            if (!any[0]) {
                right.run(env, in, path, out);
            }
        }

        @Override
        public List<JqNode> children() {
            return List.of(left, right);
        }
    }

    /** {@code target = value}, {@code target += value} and the like: all of {@code value} sees the input. */
    record Assignment(@Nullable JqOperator operator, boolean otherwise, JqNode target, JqNode value) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            value.values(env, in, to -> {
                JqUpdate update = new JqUpdate(in, env.budget());
                target.run(env, in, JqPath.ROOT, (old, at) -> {
                    List<JsonNode> keys = JqPath.keys(at, old);
                    update.set(keys, changed(update, keys, to, env));
                });
                out.emit(update.value(), JqPath.made(path));
            });
        }

        private JsonNode changed(JqUpdate update, List<JsonNode> keys, JsonNode to, JqEnv env) {
            if (otherwise) {
                JsonNode old = update.get(keys);
                return JqValue.isTrue(old) ? old : to;
            }
            return operator == null ? to : operator.of(update.get(keys), to, env.budget());
        }

        @Override
        public List<JqNode> children() {
            return List.of(target, value);
        }
    }

    /** {@code target |= change}: the first value of each; where there is none, the target is deleted. */
    record Modification(JqNode target, JqNode change) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            JqUpdate update = new JqUpdate(in, env.budget());
            List<List<JsonNode>> gone = new ArrayList<>();
            target.run(env, in, JqPath.ROOT, (old, at) -> {
                List<JsonNode> keys = JqPath.keys(at, old);
                JsonNode changed = JqControl.first(change, env, update.get(keys));
                if (changed == null) {
                    gone.add(keys);
                } else {
                    update.set(keys, changed);
                }
            });
            update.delete(gone);
            out.emit(update.value(), JqPath.made(path));
        }

        @Override
        public List<JqNode> children() {
            return List.of(target, change);
        }
    }
}
