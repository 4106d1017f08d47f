package io.keelson.server.base.expr;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The first names of paths that a program certainly reads from its own input, not from the result of a pipe, a function
 * or a loop. It may miss names; it never gives a wrong one.
 */
final class RootNames {
    private final Set<String> names = new HashSet<>();

    private RootNames() {}

    static Set<String> in(JqNode program) {
        RootNames roots = new RootNames();
        roots.visit(program);
        return Set.copyOf(roots.names);
    }

    /** @param node is evaluated on the program's own input */
    private void visit(JqNode node) {
        switch (node) {
            case JqNode.Index index -> {
                if (index.target() instanceof JqNode.Identity && index.key() instanceof JqNode.Literal literal
                        && literal.value().isString()) {
                    names.add(literal.value().stringValue());
                } else {
                    index.children().forEach(this::visit);
                }
            }
            case JqNode.Pipe pipe -> visit(pipe.left());
            case JqNode.Assignment assignment -> visit(assignment.value());
            case JqNode.Modification ignored -> {
            }
            case JqFunction.Define define -> visit(define.rest());
            case JqFunction.Call ignored -> {
            }
            case JqFunction.ParamCall ignored -> {
            }
            case JqFunction.NativeCall ignored -> {
            }
            case JqControl.Try tried -> visit(tried.body());
            case JqControl.Bind bind -> List.of(bind.source(), bind.body()).forEach(this::visit);
            case JqControl.Reduce loop -> List.of(loop.source(), loop.start()).forEach(this::visit);
            case JqControl.Foreach loop -> List.of(loop.source(), loop.start()).forEach(this::visit);
            default -> node.children().forEach(this::visit);
        }
    }
}
