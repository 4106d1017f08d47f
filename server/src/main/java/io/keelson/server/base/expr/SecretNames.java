package io.keelson.server.base.expr;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/**
 * The function {@code secret("name")}. The name is a literal, so that data can never choose the opened secret, and the
 * names of a program are known before it runs.
 */
final class SecretNames {

    /** Values of the function, by name; not bound where no secret is allowed. */
    static final ScopedValue<Map<String, String>> OPENED = ScopedValue.newInstance();

    private SecretNames() {}

    /** The name that a call gives as a literal; null for another node. */
    static @Nullable String of(JqNode node) {
        return node instanceof JqFunction.NativeCall call && call.name().equals("secret")
                && call.args().getFirst() instanceof JqNode.Literal literal && literal.value().isString()
                        ? literal.value().stringValue()
                        : null;
    }

    /** All names in a program. */
    static Set<String> in(JqNode program) {
        Set<String> names = new HashSet<>();
        collect(program, names);
        return Set.copyOf(names);
    }

    private static void collect(JqNode node, Set<String> names) {
        String name = of(node);
        if (name != null) {
            names.add(name);
        }
        node.children().forEach(child -> collect(child, names));
    }

    /** The function. */
    static void value(JqEnv env, List<JqNode> args, JsonNode in, @Nullable JqPath path, JqOut out) {
        args.getFirst().values(env, in, name -> {
            if (!OPENED.isBound()) {
                throw new ExpressionException("SECRET_NOT_ALLOWED", "secrets can be used in the input of a tool only");
            }
            String value = OPENED.get().get(name.asString());
            if (value == null) {
                throw new ExpressionException("SECRET_NOT_FOUND", "there is no secret '" + name.asString() + "'");
            }
            out.emit(StringNode.valueOf(value), JqPath.made(path));
        });
    }
}
