package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Functions: definitions, calls of them, calls of their parameters, and functions that are written in Java. */
final class JqFunction {

    private JqFunction() {}

    /** A parameter, by identity. */
    record Param(String name) {
        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /** {@code def name(params): body;}, by identity. The parser sets the body after it, because it can call itself. */
    static final class Definition {
        private final String name;
        private final List<Param> params;
        private final boolean global;
        private @Nullable JqNode body;

        /** @param global whether it is one of the language's own, which see no names of a program */
        Definition(String name, List<Param> params, boolean global) {
            this.name = name;
            this.params = List.copyOf(params);
            this.global = global;
        }

        void body(JqNode node) {
            this.body = node;
        }

        JqNode body() {
            if (body == null) {
                throw new IllegalStateException(name);
            }
            return body;
        }
    }

    /** {@code def …; rest}. */
    record Define(Definition definition, JqNode rest) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            rest.run(env.with(definition, null), in, path, out);
        }

        @Override
        public List<JqNode> children() {
            return List.of(definition.body(), rest);
        }
    }

    /** A call of a function that is written in jq. */
    record Call(Definition definition, List<JqNode> args) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            JqEnv inside = definition.global ? env.root() : env.at(definition);
            for (int i = 0; i < args.size(); i++) {
                inside = inside.with(definition.params.get(i), closure(args.get(i), env));
            }
            env.budget().enter();
            try {
                definition.body().run(inside, in, path, out);
            } finally {
                env.budget().leave();
            }
        }

        private static Object closure(JqNode arg, JqEnv env) {
            return arg instanceof ParamCall call ? env.meaning(call.param) : new JqEnv.Closure(arg, env);
        }

        @Override
        public List<JqNode> children() {
            return args;
        }
    }

    /** A call of a parameter. */
    record ParamCall(Param param) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            JqEnv.Closure closure = (JqEnv.Closure) env.meaning(param);
            env.budget().enter();
            try {
                closure.node().run(closure.env(), in, path, out);
            } finally {
                env.budget().leave();
            }
        }

        @Override
        public List<JqNode> children() {
            return List.of();
        }
    }

    /** A function that is written in Java. */
    interface Native {
        void call(JqEnv env, List<JqNode> args, JsonNode in, @Nullable JqPath path, JqOut out);
    }

    record NativeCall(String name, Native function, List<JqNode> args) implements JqNode {
        @Override
        public void run(JqEnv env, JsonNode in, @Nullable JqPath path, JqOut out) {
            env.budget().step();
            function.call(env, args, in, path, out);
        }

        @Override
        public List<JqNode> children() {
            return args;
        }
    }

    /** A function of its input's and its arguments' values; the last argument changes slowest. */
    interface OfValues {
        JsonNode of(JsonNode in, List<JsonNode> args, EvaluationBudget budget);
    }

    static Native ofValues(OfValues function) {
        return (env, args, in, path, out) -> each(env, args, args.size() - 1, in, new ArrayList<>(), values -> {
            JsonNode result = function.of(in, values, env.budget());
            env.budget().produced(result);
            out.emit(result, JqPath.made(path));
        });
    }

    private static void each(JqEnv env, List<JqNode> args, int at, JsonNode in, List<JsonNode> later,
            Consumer<List<JsonNode>> function) {
        if (at < 0) {
            function.accept(later);
            return;
        }
        args.get(at).values(env, in, value -> {
            List<JsonNode> values = new ArrayList<>();
            values.add(value);
            values.addAll(later);
            each(env, args, at - 1, in, values, function);
        });
    }
}
