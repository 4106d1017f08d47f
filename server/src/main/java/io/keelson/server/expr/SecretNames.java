package io.keelson.server.expr;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import net.thisptr.jackson.jq.Expression;
import net.thisptr.jackson.jq.PathOutput;
import net.thisptr.jackson.jq.Scope;
import net.thisptr.jackson.jq.Version;
import net.thisptr.jackson.jq.exception.JsonQueryException;
import net.thisptr.jackson.jq.internal.tree.FunctionCall;
import net.thisptr.jackson.jq.internal.tree.literal.StringLiteral;
import net.thisptr.jackson.jq.path.Path;
import org.jspecify.annotations.Nullable;

/**
 * The function {@code secret("name")}. The name is a literal, so that data can never choose what is opened, and the names
 * of a program are known before it runs.
 */
final class SecretNames {

    /** Values of the function, by name; not bound where no secret is allowed. */
    static final ScopedValue<Map<String, String>> OPENED = ScopedValue.newInstance();

    private SecretNames() {}

    static boolean isSecret(Object node) {
        return node instanceof FunctionCall && "secret".equals(JqTree.get(node, "name"))
                && JqTree.get(node, "args") instanceof List<?> args && args.size() == 1;
    }

    /** The name that a call gives as a literal; null when it does not. */
    static @Nullable String of(Object call) {
        Object argument = ((List<?>) Objects.requireNonNull(JqTree.get(call, "args"))).getFirst();
        Object node = ScopeUsage.unwrap(argument);
        return node instanceof StringLiteral literal
                ? ((JsonNode) Objects.requireNonNull(JqTree.get(literal, "value"))).textValue()
                : null;
    }

    /** All names in a program. */
    static Set<String> in(Object tree) {
        Set<String> names = new HashSet<>();
        collect(tree, names);
        return Set.copyOf(names);
    }

    private static void collect(Object node, Set<String> names) {
        String name = isSecret(node) ? of(node) : null;
        if (name != null) {
            names.add(name);
        }
        JqTree.children(node).forEach(child -> collect(child, names));
    }

    /** The function. */
    static void value(Scope scope, List<Expression> args, JsonNode in, @Nullable Path path, PathOutput output,
            Version version)
            throws JsonQueryException {
        args.getFirst().apply(scope, in, null, (name, at) -> {
            if (!OPENED.isBound()) {
                throw new ExpressionException("SECRET_NOT_ALLOWED", "secrets can be used in the input of a tool only");
            }
            String value = OPENED.get().get(name.asText());
            if (value == null) {
                throw new ExpressionException("SECRET_NOT_FOUND", "there is no secret '" + name.asText() + "'");
            }
            output.emit(TextNode.valueOf(value), null);
        }, false);
    }
}
