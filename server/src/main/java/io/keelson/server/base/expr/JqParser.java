package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.NullNode;

/**
 * Parses jq and resolves all names where they stand, so that an unknown or refused one is found before the program runs.
 * All failures are {@code EXPRESSION_SYNTAX}.
 */
final class JqParser {

    private static final List<Map<String, JqOperator>> OPERATORS = List.of(
            Map.of("==", JqOperator.EQUAL, "!=", JqOperator.UNEQUAL, "<", JqOperator.LESS, "<=", JqOperator.AT_MOST,
                    ">", JqOperator.GREATER, ">=", JqOperator.AT_LEAST),
            Map.of("+", JqOperator.ADD, "-", JqOperator.SUBTRACT),
            Map.of("*", JqOperator.MULTIPLY, "/", JqOperator.DIVIDE, "%", JqOperator.REMAINDER));
    private static final int COMPARISON = 0;
    private static final int PRODUCT = 2;

    private static final Map<String, JqOperator> UPDATES = Map.of("+=", JqOperator.ADD, "-=", JqOperator.SUBTRACT,
            "*=", JqOperator.MULTIPLY, "/=", JqOperator.DIVIDE, "%=", JqOperator.REMAINDER);
    private static final Set<String> REFUSED_VARIABLES = Set.of("ENV", "__loc__", "__prog_args");
    private static final String NO_MODULES = "modules are not available in expressions";

    private final JqTokens tokens;
    private final boolean global;
    private Scope scope = new Scope(null, "", "");
    /** Definitions around the current place. */
    private int depth;

    /** Names that are known at a place, from the innermost outwards. */
    private record Scope(@Nullable Scope outer, String name, Object meaning) {
        @Nullable Object find(String wanted) {
            for (Scope at = this; at != null; at = at.outer) {
                if (at.name.equals(wanted)) {
                    return at.meaning;
                }
            }
            return null;
        }
    }

    private JqParser(String text, boolean global) {
        this.tokens = new JqTokens(text);
        this.global = global;
    }

    static JqNode parse(String text) {
        JqParser parser = new JqParser(text, false);
        if (parser.tokens.isWord("module") || parser.tokens.isWord("import") || parser.tokens.isWord("include")) {
            throw JqTokens.refused(NO_MODULES);
        }
        JqNode program = parser.pipe();
        parser.tokens.expectEnd();
        return program;
    }

    /** The functions of a text that has nothing else, by {@code name/parameters}. */
    static Map<String, JqFunction.Definition> definitions(String text) {
        JqParser parser = new JqParser(text, true);
        Map<String, JqFunction.Definition> all = new LinkedHashMap<>();
        while (!parser.tokens.isEnd()) {
            JqFunction.Definition definition = parser.definition();
            all.put(parser.scope.name, definition);
        }
        return all;
    }

    private JqNode pipe() {
        JqNode left = comma();
        return tokens.take("|") ? new JqNode.Pipe(left, pipe()) : left;
    }

    private JqNode comma() {
        JqNode left = bound();
        while (tokens.take(",")) {
            left = new JqNode.Comma(left, bound());
        }
        return left;
    }

    /** {@code expression}, or {@code expression as patterns | body}, which takes all that follows. */
    private JqNode bound() {
        JqNode source = alternative();
        if (!tokens.takeWord("as")) {
            return source;
        }
        Scope before = scope;
        JqPattern.Choice patterns = patterns();
        tokens.expect("|");
        JqNode body = pipe();
        scope = before;
        return new JqControl.Bind(source, patterns, body);
    }

    private JqNode alternative() {
        JqNode left = assignment();
        return tokens.take("//") ? new JqNode.Otherwise(left, alternative()) : left;
    }

    private JqNode assignment() {
        JqNode target = or();
        if (tokens.take("|=")) {
            return once(new JqNode.Modification(target, assigned()));
        }
        if (tokens.take("=")) {
            return once(new JqNode.Assignment(null, false, target, assigned()));
        }
        if (tokens.take("//=")) {
            return once(new JqNode.Assignment(null, true, target, assigned()));
        }
        for (Map.Entry<String, JqOperator> each : UPDATES.entrySet()) {
            if (tokens.take(each.getKey())) {
                return once(new JqNode.Assignment(each.getValue(), false, target, assigned()));
            }
        }
        return target;
    }

    /** An assignment binds less than {@code //} to its left, and takes one to its right. */
    private JqNode assigned() {
        JqNode value = or();
        return tokens.take("//") ? new JqNode.Otherwise(value, alternative()) : value;
    }

    private JqNode once(JqNode assignment) {
        if (tokens.isOneOf(List.of("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="))) {
            throw tokens.unexpected();
        }
        return assignment;
    }

    private JqNode or() {
        JqNode left = and();
        while (tokens.takeWord("or")) {
            left = new JqNode.Logic(false, left, and());
        }
        return left;
    }

    private JqNode and() {
        JqNode left = operation(COMPARISON);
        while (tokens.takeWord("and")) {
            left = new JqNode.Logic(true, left, operation(COMPARISON));
        }
        return left;
    }

    private JqNode operation(int level) {
        if (level > PRODUCT) {
            return operand();
        }
        JqNode left = operation(level + 1);
        for (JqOperator operator = operator(level); operator != null; operator = operator(level)) {
            left = new JqNode.Operation(operator, left, operation(level + 1));
            if (level == COMPARISON && tokens.isOneOf(OPERATORS.get(COMPARISON).keySet())) {
                throw tokens.unexpected();
            }
        }
        return left;
    }

    private @Nullable JqOperator operator(int level) {
        for (Map.Entry<String, JqOperator> each : OPERATORS.get(level).entrySet()) {
            if (tokens.take(each.getKey())) {
                return each.getValue();
            }
        }
        return null;
    }

    private JqNode operand() {
        if (tokens.take("-")) {
            return new JqNode.Negation(operation(PRODUCT));
        }
        if (tokens.isWord("def")) {
            Scope before = scope;
            JqFunction.Definition definition = definition();
            JqNode rest = pipe();
            scope = before;
            return new JqFunction.Define(definition, rest);
        }
        if (tokens.takeWord("label")) {
            Scope before = scope;
            Object label = new Object();
            scope = new Scope(scope, "*" + tokens.variable(), label);
            tokens.expect("|");
            JqNode body = pipe();
            scope = before;
            return new JqControl.Label(label, body);
        }
        return tokens.takeWord("try") ? tried() : postfix();
    }

    private JqNode tried() {
        JqNode body = triable();
        return new JqControl.Try(body, tokens.takeWord("catch") ? triable() : null);
    }

    private JqNode triable() {
        return tokens.take("-") ? new JqNode.Negation(triable()) : tokens.takeWord("try") ? tried() : postfix();
    }

    /** From {@code def} to its semicolon; the name is known afterwards. */
    private JqFunction.Definition definition() {
        tokens.expectWord("def");
        String name = tokens.name();
        List<String> names = new ArrayList<>();
        List<Boolean> asValue = new ArrayList<>();
        if (tokens.take("(")) {
            do {
                asValue.add(tokens.isVariable());
                names.add(tokens.isVariable() ? tokens.variable() : tokens.name());
            } while (tokens.take(";"));
            tokens.expect(")");
        }
        tokens.expect(":");
        List<JqFunction.Param> params = names.stream().map(JqFunction.Param::new).toList();
        JqFunction.Definition definition = new JqFunction.Definition(name, params, global && depth == 0);
        scope = new Scope(scope, name + "/" + params.size(), definition);
        Scope after = scope;
        params.forEach(param -> scope = new Scope(scope, param.name() + "/0", param));
        List<Object> variables = new ArrayList<>();
        for (int i = 0; i < params.size(); i++) {
            Object variable = new Object();
            variables.add(variable);
            scope = asValue.get(i) ? new Scope(scope, "$" + names.get(i), variable) : scope;
        }
        depth++;
        JqNode body = pipe();
        depth--;
        tokens.expect(";");
        for (int i = params.size() - 1; i >= 0; i--) {
            if (asValue.get(i)) {
                body = new JqControl.Bind(new JqFunction.ParamCall(params.get(i)),
                        new JqPattern.Choice(List.of(new JqPattern.Name(variables.get(i))), List.of()), body);
            }
        }
        definition.body(body);
        scope = after;
        return definition;
    }

    private JqNode postfix() {
        JqNode term = term();
        while (true) {
            if (tokens.isField()) {
                term = new JqNode.Index(term, new JqNode.Literal(JqValue.text(tokens.field())));
            } else if (tokens.isDotBeforeSuffix()) {
                tokens.expect(".");
                term = tokens.isText() ? new JqNode.Index(term, text(JqFormat.TEXT)) : suffix(term);
            } else if (tokens.is("[")) {
                term = suffix(term);
            } else if (tokens.takeQuestion()) {
                term = new JqControl.Try(term, null);
            } else {
                return term;
            }
        }
    }

    /** {@code [ ]} behind a term. */
    private JqNode suffix(JqNode target) {
        tokens.expect("[");
        if (tokens.take("]")) {
            return new JqNode.Each(target);
        }
        JqNode none = new JqNode.Literal(NullNode.instance);
        if (tokens.take(":")) {
            JqNode to = pipe();
            tokens.expect("]");
            return new JqNode.Slice(target, none, to);
        }
        JqNode key = pipe();
        if (!tokens.take(":")) {
            tokens.expect("]");
            return new JqNode.Index(target, key);
        }
        JqNode to = tokens.is("]") ? none : pipe();
        tokens.expect("]");
        return new JqNode.Slice(target, key, to);
    }

    private JqNode term() {
        if (tokens.isText()) {
            return text(JqFormat.TEXT);
        }
        if (tokens.isNumber()) {
            return new JqNode.Literal(tokens.number());
        }
        if (tokens.isField()) {
            return new JqNode.Index(new JqNode.Identity(), new JqNode.Literal(JqValue.text(tokens.field())));
        }
        if (tokens.isFormat()) {
            return format();
        }
        if (tokens.isVariable()) {
            return variable();
        }
        if (tokens.take("..")) {
            return new JqNode.Recurse();
        }
        if (tokens.take(".")) {
            return tokens.isText() ? new JqNode.Index(new JqNode.Identity(), text(JqFormat.TEXT))
                    : new JqNode.Identity();
        }
        if (tokens.take("(")) {
            JqNode inner = scoped();
            tokens.expect(")");
            return inner;
        }
        if (tokens.take("[")) {
            JqNode items = tokens.is("]") ? null : scoped();
            tokens.expect("]");
            return new JqNode.ArrayOf(items);
        }
        if (tokens.take("{")) {
            return object();
        }
        return word();
    }

    private JqNode scoped() {
        Scope before = scope;
        JqNode inner = pipe();
        scope = before;
        return inner;
    }

    private JqNode word() {
        if (tokens.takeWord("if")) {
            return condition();
        }
        if (tokens.isWord("reduce") || tokens.isWord("foreach")) {
            return loop(tokens.name());
        }
        if (tokens.takeWord("break")) {
            String name = tokens.variable();
            Object label = scope.find("*" + name);
            if (label == null) {
                throw JqTokens.refused("there is no label $" + name);
            }
            return new JqControl.Break(label);
        }
        return call();
    }

    private JqNode condition() {
        JqNode condition = scoped();
        tokens.expectWord("then");
        JqNode then = scoped();
        JqNode otherwise = new JqNode.Identity();
        if (tokens.takeWord("elif")) {
            return new JqControl.If(condition, then, condition());
        }
        if (tokens.takeWord("else")) {
            otherwise = scoped();
        }
        tokens.expectWord("end");
        return new JqControl.If(condition, then, otherwise);
    }

    private JqNode loop(String kind) {
        JqNode source = alternative();
        tokens.expectWord("as");
        Scope before = scope;
        JqPattern.Choice patterns = patterns();
        Scope inside = scope;
        scope = before;
        tokens.expect("(");
        JqNode start = scoped();
        tokens.expect(";");
        scope = inside;
        JqNode update = scoped();
        JqNode extract = kind.equals("foreach") && tokens.take(";") ? scoped() : null;
        scope = before;
        tokens.expect(")");
        return kind.equals("reduce")
                ? new JqControl.Reduce(source, patterns, start, update)
                : new JqControl.Foreach(source, patterns, start, update, extract);
    }

    private JqNode variable() {
        String name = tokens.variable();
        Object variable = scope.find("$" + name);
        if (variable == null) {
            throw JqTokens.refused(REFUSED_VARIABLES.contains(name)
                    ? "the variable $" + name + " is not available in expressions"
                    : "there is no variable $" + name);
        }
        return new JqNode.Variable(variable);
    }

    private JqNode format() {
        String name = tokens.format();
        JqFormat format = JqFormat.named(name);
        if (format == null) {
            throw JqTokens.refused("unknown function @" + name + "/0");
        }
        return tokens.isText() ? text(format) : Objects.requireNonNull(JqBuiltins.call("@" + name, List.of()));
    }

    private JqNode text(JqFormat format) {
        List<JqNode> parts = new ArrayList<>();
        tokens.text(literal -> parts.add(new JqNode.Literal(JqValue.text(literal))), () -> {
            JqNode inner = scoped();
            parts.add(inner instanceof JqNode.Literal literal && literal.value().isString() && format == JqFormat.TEXT
                    ? inner
                    : new JqNode.Pipe(inner, new JqNode.Identity()));
        });
        return parts.isEmpty() ? new JqNode.Literal(JqValue.text(""))
                : parts.size() == 1 && parts.getFirst() instanceof JqNode.Literal literal ? literal
                        : new JqNode.Text(parts, format);
    }

    private JqNode object() {
        List<JqNode.ObjectOf.Field> fields = new ArrayList<>();
        while (!tokens.is("}")) {
            fields.add(member());
            if (!tokens.take(",")) {
                break;
            }
        }
        tokens.expect("}");
        return fields.isEmpty() ? new JqNode.Literal(JqValue.NODES.objectNode()) : new JqNode.ObjectOf(fields);
    }

    private JqNode.ObjectOf.Field member() {
        if (tokens.isVariable()) {
            String name = tokens.variableAhead();
            JqNode variable = variable();
            return tokens.take(":")
                    ? new JqNode.ObjectOf.Field(variable, memberValue())
                    : new JqNode.ObjectOf.Field(new JqNode.Literal(JqValue.text(name)), variable);
        }
        if (tokens.take("(")) {
            JqNode key = scoped();
            tokens.expect(")");
            tokens.expect(":");
            checkKey(key);
            return new JqNode.ObjectOf.Field(key, memberValue());
        }
        JqNode key = tokens.isText() ? text(JqFormat.TEXT)
                : tokens.isFormat() ? format() : new JqNode.Literal(JqValue.text(tokens.word()));
        return new JqNode.ObjectOf.Field(key, tokens.take(":")
                ? memberValue()
                : new JqNode.Index(new JqNode.Identity(), key));
    }

    private static void checkKey(JqNode key) {
        if (key instanceof JqNode.Literal literal && !literal.value().isString()) {
            throw JqTokens.refused("Cannot use " + JqValue.type(literal.value()) + " as object key");
        }
    }

    /** Everything up to the comma that a comma separates. */
    private JqNode memberValue() {
        JqNode left = alternative();
        return tokens.take("|") ? new JqNode.Pipe(left, memberValue()) : left;
    }

    private JqPattern.Choice patterns() {
        Map<String, Object> names = new LinkedHashMap<>();
        List<JqPattern> patterns = new ArrayList<>(List.of(pattern(names)));
        while (tokens.take("?//")) {
            patterns.add(pattern(names));
        }
        names.forEach((name, variable) -> scope = new Scope(scope, "$" + name, variable));
        return new JqPattern.Choice(patterns, patterns.size() == 1 ? List.of() : List.copyOf(names.values()));
    }

    private JqPattern pattern(Map<String, Object> names) {
        if (tokens.isVariable()) {
            return new JqPattern.Name(named(tokens.variable(), names));
        }
        if (tokens.take("[")) {
            List<JqPattern> items = new ArrayList<>();
            do {
                items.add(pattern(names));
            } while (tokens.take(","));
            tokens.expect("]");
            return new JqPattern.Items(items);
        }
        tokens.expect("{");
        List<JqPattern.Fields.Field> fields = new ArrayList<>();
        do {
            fields.add(field(names));
        } while (tokens.take(","));
        tokens.expect("}");
        return new JqPattern.Fields(fields);
    }

    private JqPattern.Fields.Field field(Map<String, Object> names) {
        if (tokens.isVariable()) {
            String name = tokens.variable();
            Object variable = named(name, names);
            return new JqPattern.Fields.Field(new JqNode.Literal(JqValue.text(name)), variable,
                    tokens.take(":") ? pattern(names) : null);
        }
        JqNode key;
        if (tokens.take("(")) {
            Scope before = scope;
            names.forEach((name, variable) -> scope = new Scope(scope, "$" + name, variable));
            key = pipe();
            scope = before;
            tokens.expect(")");
            checkKey(key);
        } else {
            key = tokens.isText() ? text(JqFormat.TEXT) : new JqNode.Literal(JqValue.text(tokens.word()));
        }
        tokens.expect(":");
        return new JqPattern.Fields.Field(key, null, pattern(names));
    }

    private static Object named(String name, Map<String, Object> names) {
        return names.computeIfAbsent(name, each -> new Object());
    }

    private JqNode call() {
        int at = tokens.position();
        String name = tokens.name();
        if (name.contains("::")) {
            throw JqTokens.refused(NO_MODULES);
        }
        List<JqNode> args = new ArrayList<>();
        if (tokens.take("(")) {
            do {
                args.add(scoped());
            } while (tokens.take(";"));
            tokens.expect(")");
        }
        String signature = name + "/" + args.size();
        return switch (scope.find(signature)) {
            case JqFunction.Param param -> new JqFunction.ParamCall(param);
            case JqFunction.Definition definition -> new JqFunction.Call(definition, args);
            case null, default -> builtin(name, args, at);
        };
    }

    private JqNode builtin(String name, List<JqNode> args, int at) {
        if (args.isEmpty() && (name.equals("true") || name.equals("false"))) {
            return new JqNode.Literal(JqValue.bool(name.equals("true")));
        }
        if (args.isEmpty() && name.equals("null")) {
            return new JqNode.Literal(NullNode.instance);
        }
        JqNode call = name.startsWith("_") && !global ? null : JqBuiltins.call(name, args);
        if (call == null) {
            String hint = tokens.hyphenHint(at);
            throw JqTokens.refused((JqBuiltins.isRefused(name)
                    ? "the function " + name + " is not available in expressions"
                    : "unknown function " + name + "/" + args.size()) + hint);
        }
        if (name.equals("secret") && args.size() == 1 && SecretNames.of(call) == null) {
            throw JqTokens.refused("secret requires a literal name: secret(\"token\")");
        }
        return call;
    }
}
