package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which parts of its input a program reads: paths of at most two names. It never misses a part; it may name a part that
 * the run does not reach.
 *
 * @param whole whether it uses its input as a whole
 * @param paths for example {@code [inputs, path]}, or {@code [tasks]} if the whole part can be read
 * @param plain the program's one path when it is nothing but {@code .a.b["c"]}, else null
 * @param secrets names of the secrets that it opens
 * @param roots as {@link RootNames}
 */
record ScopeUsage(boolean whole, Set<List<String>> paths, @Nullable List<String> plain, Set<String> secrets,
        Set<String> roots) {

    private static final int PATH_LENGTH = 2;

    /** Functions of the language that do not read their input. */
    private static final Set<String> WITHOUT_INPUT = Set.of("range", "limit", "empty", "secret");

    static ScopeUsage of(JqNode program) {
        Collector collector = new Collector();
        collector.visit(program);
        return new ScopeUsage(collector.whole, Set.copyOf(collector.paths), plainPath(program),
                SecretNames.in(program), RootNames.in(program));
    }

    /** The names of a pure path from the input, or null. */
    private static @Nullable List<String> plainPath(JqNode node) {
        if (node instanceof JqNode.Identity) {
            return new ArrayList<>();
        }
        List<String> path = node instanceof JqNode.Index index ? plainPath(index.target()) : null;
        String name = name(node);
        if (path == null || name == null) {
            return null;
        }
        path.add(name);
        return path;
    }

    private static @Nullable String name(JqNode node) {
        return node instanceof JqNode.Index index && index.key() instanceof JqNode.Literal literal
                && literal.value().isString() ? literal.value().stringValue() : null;
    }

    /** Visits nodes that are evaluated on the program's own input; after a pipe the input is another. */
    private static final class Collector {
        private final Set<List<String>> paths = new HashSet<>();
        private boolean whole;

        private void visit(JqNode node) {
            switch (node) {
                case JqNode.Identity ignored -> whole = true;
                case JqNode.Recurse ignored -> whole = true;
                case JqNode.Index index -> access(index);
                case JqNode.Pipe pipe -> visit(pipe.left());
                case JqNode.Assignment ignored -> all(node);
                case JqNode.Modification ignored -> all(node);
                case JqFunction.Call ignored -> all(node);
                case JqFunction.ParamCall ignored -> all(node);
                case JqFunction.NativeCall call -> {
                    whole = whole || !WITHOUT_INPUT.contains(call.name());
                    call.args().forEach(this::visit);
                }
                case JqControl.Reduce loop -> fold(loop.source(), loop.patterns(), loop.start());
                case JqControl.Foreach loop -> fold(loop.source(), loop.patterns(), loop.start());
                case JqControl.Try tried -> visit(tried.body());
                default -> node.children().forEach(this::visit);
            }
        }

        private void all(JqNode node) {
            whole = true;
            node.children().forEach(this::visit);
        }

        private void fold(JqNode source, JqPattern.Choice patterns, JqNode start) {
            visit(source);
            patterns.keys().forEach(this::visit);
            visit(start);
        }

        private void access(JqNode access) {
            List<String> path = new ArrayList<>();
            JqNode node = access;
            while (node instanceof JqNode.Index index) {
                String name = name(index);
                if (name == null) {
                    path.clear();
                    visit(index.key());
                } else {
                    path.addFirst(name);
                }
                node = index.target();
            }
            if (!(node instanceof JqNode.Identity)) {
                visit(node);
            } else if (path.isEmpty()) {
                whole = true;
            } else {
                paths.add(List.copyOf(path.subList(0, Math.min(PATH_LENGTH, path.size()))));
            }
        }
    }
}
