package io.keelson.server.expr;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import net.thisptr.jackson.jq.BuiltinFunctionLoader;
import net.thisptr.jackson.jq.Expression;
import net.thisptr.jackson.jq.Function;
import net.thisptr.jackson.jq.Scope;
import net.thisptr.jackson.jq.Version;
import net.thisptr.jackson.jq.Versions;
import net.thisptr.jackson.jq.exception.JsonQueryException;
import net.thisptr.jackson.jq.internal.JsonQueryFunction;
import net.thisptr.jackson.jq.internal.javacc.ExpressionParser;

/**
 * The functions an expression can call: jq's, without those that are not pure (clock, environment, files, exit), with
 * regular expressions on RE2, and with a look at the size of the arguments of those that cannot be stopped inside.
 */
final class JqBuiltins {

    static final Version VERSION = Versions.JQ_1_7;

    /** The functions of every program; not changed after this class is loaded. */
    static final Scope ROOT = Scope.newEmptyScope();

    private static final Set<String> IMPURE = Set.of("now", "env", "input", "inputs", "debug", "stderr", "halt",
            "halt_error", "input_filename", "input_line_number", "builtins", "modulemeta", "debug_scope",
            "getpath_env");

    /** Functions of jq 1.6 and 1.7 that the library lacks. */
    private static final Map<String, String> ADDED = new TreeMap<>(Map.of(
            "repeat(f)", "def _r: ., (f | _r); _r",
            "abs", "if type == \"number\" and . < 0 then -. else . end",
            "toarray", "if type == \"array\" then . else [.] end",
            "add(f)", "reduce f as $x (null; . + $x)",
            "trim", "sub(\"^\\\\s+\"; \"\") | sub(\"\\\\s+$\"; \"\")",
            "ltrim", "sub(\"^\\\\s+\"; \"\")",
            "rtrim", "sub(\"\\\\s+$\"; \"\")"));

    static {
        BuiltinFunctionLoader.getInstance().listFunctions(VERSION, ROOT).forEach((signature, function) -> {
            if (!isImpure(nameOf(signature))) {
                ROOT.addFunction(signature, guarded(signature, function));
            }
        });
        ADDED.forEach(JqBuiltins::define);
        ROOT.addFunction("_match_impl/3", JqRegex::match);
        ROOT.addFunction("_sub_impl/3", JqRegex::sub);
        ROOT.addFunction("secret/1", SecretNames::value);
    }

    private JqBuiltins() {}

    static boolean isImpure(String name) {
        return IMPURE.contains(name);
    }

    private static String nameOf(String signature) {
        int slash = signature.lastIndexOf('/');
        return slash < 0 ? signature : signature.substring(0, slash);
    }

    private static void define(String head, String body) {
        String name = head.replaceAll("\\(.*", "");
        List<String> params = head.contains("(") ? List.of("f") : List.of();
        try {
            Expression parsed = JqProgram.guard(ExpressionParser.compile(body, VERSION));
            ROOT.addFunction(name, params.size(), new JsonQueryFunction(name, params, parsed, ROOT));
        } catch (JsonQueryException e) {
            throw new IllegalStateException(head, e);
        }
    }

    private static Function guarded(String signature, Function function) {
        if (function instanceof JsonQueryFunction) {
            JqTree.rewrite(function, JqProgram::guardNode);
            return function;
        }
        return switch (signature) {
            case "contains/1", "indices/1", "_indices/1", "index/1", "rindex/1" ->
                (scope, args, in, path, output, version) -> function.apply(scope,
                        List.of(checked(args.get(0), (budget, arg) -> budget.checkWork(size(in) * size(arg)))),
                        in, path, output, version);
            case "setpath/2" -> (scope, args, in, path, output, version) -> function.apply(scope,
                    List.of(checked(args.get(0), JqBuiltins::checkIndexes), args.get(1)), in, path, output, version);
            case "explode/0", "split/1" -> (scope, args, in, path, output, version) -> {
                EvaluationBudget.CURRENT.get().checkValue(size(in) * 48);
                function.apply(scope, args, in, path, output, version);
            };
            default -> function;
        };
    }

    private interface Check {
        void accept(EvaluationBudget budget, JsonNode value);
    }

    private static Expression checked(Expression arg, Check check) {
        return (scope, in, path, output, requirePath) -> arg.apply(scope, in, path, (value, at) -> {
            check.accept(EvaluationBudget.CURRENT.get(), value);
            output.emit(value, at);
        }, requirePath);
    }

    private static long size(JsonNode value) {
        return value.isTextual() ? value.textValue().length() : 1 + EvaluationBudget.CURRENT.get().weigh(value) / 32;
    }

    private static void checkIndexes(EvaluationBudget budget, JsonNode path) {
        for (JsonNode each : path) {
            if (each.isNumber() && each.doubleValue() > Guard.MAX_INDEX) {
                throw new ExpressionException("EXPRESSION_OUTPUT_TOO_LARGE",
                        "an array index is above " + Guard.MAX_INDEX);
            }
        }
    }
}
