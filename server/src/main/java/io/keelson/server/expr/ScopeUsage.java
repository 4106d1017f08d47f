package io.keelson.server.expr;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import net.thisptr.jackson.jq.internal.tree.ForeachExpression;
import net.thisptr.jackson.jq.internal.tree.FunctionCall;
import net.thisptr.jackson.jq.internal.tree.FunctionDefinition;
import net.thisptr.jackson.jq.internal.tree.IdentifierKeyFieldConstruction;
import net.thisptr.jackson.jq.internal.tree.PipedQuery;
import net.thisptr.jackson.jq.internal.tree.RecursionOperator;
import net.thisptr.jackson.jq.internal.tree.ReduceExpression;
import net.thisptr.jackson.jq.internal.tree.StringKeyFieldConstruction;
import net.thisptr.jackson.jq.internal.tree.ThisObject;
import net.thisptr.jackson.jq.internal.tree.TopLevelExpression;
import net.thisptr.jackson.jq.internal.tree.TransformPipeComponent;
import net.thisptr.jackson.jq.internal.tree.TryCatch;
import net.thisptr.jackson.jq.internal.tree.binaryop.assignment.Assignment;
import net.thisptr.jackson.jq.internal.tree.binaryop.assignment.ComplexAssignment;
import net.thisptr.jackson.jq.internal.tree.binaryop.assignment.UpdateAssignment;
import net.thisptr.jackson.jq.internal.tree.fieldaccess.FieldAccess;
import net.thisptr.jackson.jq.internal.tree.fieldaccess.IdentifierFieldAccess;
import net.thisptr.jackson.jq.internal.tree.literal.StringLiteral;
import org.jspecify.annotations.Nullable;

/**
 * Which parts of its input a program reads: paths of at most two names. It never misses a part; it may name one that
 * the run does not reach.
 *
 * @param whole whether it uses its input as a whole
 * @param paths for example {@code [inputs, path]}, or {@code [tasks]} when all of it can be read
 * @param plain the program's one path when it is nothing but {@code .a.b["c"]}, else null
 * @param secrets names of the secrets that it opens
 */
record ScopeUsage(boolean whole, Set<List<String>> paths, @Nullable List<String> plain, Set<String> secrets) {

    private static final int PATH_LENGTH = 2;

    static ScopeUsage of(Object tree) {
        Collector collector = new Collector();
        collector.visit(tree);
        List<String> plain = plainPath(unwrap(tree));
        return new ScopeUsage(collector.whole, Set.copyOf(collector.paths), plain, SecretNames.in(tree));
    }

    /** The names of a pure path from the input, or null. */
    private static @Nullable List<String> plainPath(Object node) {
        if (node instanceof ThisObject) {
            return new ArrayList<>();
        }
        if (!(node instanceof FieldAccess) || Boolean.TRUE.equals(JqTree.get(node, "permissive"))) {
            return null;
        }
        List<String> path = plainPath(target(node));
        String name = name(node);
        if (path == null || name == null) {
            return null;
        }
        path.add(name);
        return path;
    }

    private static Object target(Object access) {
        return Objects.requireNonNull(JqTree.get(access, "target"));
    }

    private static @Nullable String name(Object access) {
        if (access instanceof IdentifierFieldAccess) {
            return (String) JqTree.get(access, "field");
        }
        List<Object> parts = new ArrayList<>(JqTree.children(access));
        parts.remove(target(access));
        return parts.size() == 1 && parts.getFirst() instanceof StringLiteral literal
                ? ((JsonNode) Objects.requireNonNull(
                        JqTree.get(literal, "value"))).textValue()
                : null;
    }

    /** The parser wraps a lone expression in a program and a pipe of one. */
    static Object unwrap(Object node) {
        List<Object> children = JqTree.children(node);
        boolean wrapper = node instanceof TopLevelExpression || node instanceof PipedQuery
                || node instanceof TransformPipeComponent;
        return wrapper && children.size() == 1 ? unwrap(children.getFirst()) : node;
    }

    /** Visits what is evaluated on the program's own input; after a pipe the input is another. */
    private static final class Collector {
        private final Set<List<String>> paths = new HashSet<>();
        private boolean whole;

        private void visit(Object node) {
            switch (node) {
                case ThisObject ignored -> whole = true;
                case RecursionOperator ignored -> whole = true;
                case FieldAccess access -> access(access);
                case PipedQuery pipe -> pipe(pipe);
                case FunctionCall call -> {
                    whole = whole || !ignoresInput(call);
                    JqTree.children(call).forEach(this::visit);
                }
                case Assignment ignored -> all(node);
                case ComplexAssignment ignored -> all(node);
                case UpdateAssignment ignored -> all(node);
                case ReduceExpression ignored -> fold(node);
                case ForeachExpression ignored -> fold(node);
                case IdentifierKeyFieldConstruction field when field.value == null -> paths.add(List.of(field.key));
                case StringKeyFieldConstruction field when field.value == null -> all(field);
                case TryCatch ignored -> visit(Objects.requireNonNull(JqTree.get(node, "tryExpr")));
                default -> JqTree.children(node).forEach(this::visit);
            }
        }

        private void all(Object node) {
            whole = true;
            JqTree.children(node).forEach(this::visit);
        }

        private void fold(Object node) {
            for (String part : List.of("iterExpr", "initExpr", "matcher")) {
                Object child = JqTree.get(node, part);
                if (child != null) {
                    visit(child);
                }
            }
        }

        /** Bindings ({@code a as $x | b}) and labels leave the input as it is; any other component replaces it. */
        private void pipe(PipedQuery pipe) {
            for (Object component : JqTree.children(pipe)) {
                visit(component);
                if (component instanceof TransformPipeComponent transform
                        && !(transform.expr instanceof FunctionDefinition)) {
                    return;
                }
            }
        }

        private void access(FieldAccess access) {
            List<String> path = new ArrayList<>();
            Object node = access;
            while (node instanceof FieldAccess each) {
                String name = name(each);
                if (name == null) {
                    path.clear();
                    JqTree.children(each).stream().filter(child -> child != target(each)).forEach(this::visit);
                } else {
                    path.addFirst(name);
                }
                node = target(each);
            }
            if (!(node instanceof ThisObject)) {
                visit(node);
            } else if (path.isEmpty()) {
                whole = true;
            } else {
                paths.add(List.copyOf(path.subList(0, Math.min(PATH_LENGTH, path.size()))));
            }
        }

        private static boolean ignoresInput(FunctionCall call) {
            return Set.of("range", "limit", "empty", "secret").contains(String.valueOf(JqTree.get(call, "name")));
        }
    }
}
