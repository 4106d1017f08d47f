package io.keelson.server.expr;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import net.thisptr.jackson.jq.internal.tree.FormattingFilter;
import net.thisptr.jackson.jq.internal.tree.FunctionCall;
import net.thisptr.jackson.jq.internal.tree.FunctionDefinition;
import net.thisptr.jackson.jq.internal.tree.ImportStatement;
import net.thisptr.jackson.jq.internal.tree.ModuleDirective;
import net.thisptr.jackson.jq.internal.tree.VariableAccess;

/** Refuses unknown functions, impure ones, modules and the environment before the program first runs. */
final class NameCheck {

    private static final Set<String> IMPURE_VARIABLES = Set.of("ENV", "__loc__", "__prog_args");

    private final Set<String> defined = new HashSet<>();

    private NameCheck() {}

    /** @throws ExpressionException {@code EXPRESSION_SYNTAX}, naming the function or variable */
    static void check(Object tree) {
        NameCheck names = new NameCheck();
        names.define(tree);
        names.look(tree);
    }

    private void define(Object node) {
        if (node instanceof FunctionDefinition) {
            List<?> params = (List<?>) Objects.requireNonNull(JqTree.get(node, "args"));
            defined.add(JqTree.get(node, "fname") + "/" + params.size());
            params.forEach(param -> defined.add(param.toString().replace("$", "") + "/0"));
        }
        JqTree.children(node).forEach(this::define);
    }

    private void look(Object node) {
        switch (node) {
            case FunctionCall call -> call(call);
            case FormattingFilter filter -> known("@" + String.valueOf(JqTree.get(filter, "name")).replace("@", ""), 0);
            case VariableAccess access -> variable(String.valueOf(JqTree.get(access, "name")));
            case ImportStatement ignored -> throw refused("modules are not available in expressions");
            case ModuleDirective ignored -> throw refused("modules are not available in expressions");
            default -> {}
        }
        JqTree.children(node).forEach(this::look);
    }

    private void call(FunctionCall call) {
        if (JqTree.get(call, "moduleName") != null) {
            throw refused("modules are not available in expressions");
        }
        List<?> args = (List<?>) JqTree.get(call, "args");
        known(String.valueOf(JqTree.get(call, "name")), args == null ? 0 : args.size());
        if (SecretNames.isSecret(call) && SecretNames.of(call) == null) {
            throw refused("secret requires a literal name: secret(\"token\")");
        }
    }

    private void known(String name, int arity) {
        if (defined.contains(name + "/" + arity)) {
            return;
        }
        if (JqBuiltins.isImpure(name)) {
            throw refused("the function " + name + " is not available in expressions");
        }
        if (JqBuiltins.ROOT.getFunction(name, arity) == null) {
            throw refused("unknown function " + name + "/" + arity);
        }
    }

    private static void variable(String name) {
        if (IMPURE_VARIABLES.contains(name)) {
            throw refused("the variable $" + name + " is not available in expressions");
        }
    }

    private static ExpressionException refused(String message) {
        return new ExpressionException("EXPRESSION_SYNTAX", message);
    }
}
