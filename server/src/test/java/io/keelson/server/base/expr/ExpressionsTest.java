package io.keelson.server.base.expr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

@Timeout(60)
class ExpressionsTest {

    private static final JsonMapper JSON = JsonMapper.shared();
    private static final JsonNode SCOPE = json("""
            {"inputs": {"path": "src", "n": 3, "odd name": true, "f": 1.50},
             "tasks": {"a": {"state": "completed", "output": {"files": [{"size": 2}, {"size": 40}], "text": "x\\ny"}},
                       "b-c": {"state": "failed", "output": null}},
             "steps": {"list": {"output": [1, 2, 3]}},
             "run": {"id": "r1", "name": "demo"}, "item": {"k": "v"}, "index": 4}""");

    private final Expressions expressions = new Expressions();

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "${ .inputs.path }                                   => `\"src\"`",
            "${ .inputs.n }                                      => 3",
            "${ .inputs.n + 1 }                                  => 4",
            "${ .inputs.f }                                      => 1.5",
            "${ .inputs[\"odd name\"] }                          => true",
            "${ .inputs.missing.deeper }                         => null",
            "${ .tasks[\"b-c\"].state }                          => `\"failed\"`",
            "${ .tasks.a.output.files | map(.size) | add }       => 42",
            "${ [.tasks.a.output.files[].size] | max }           => 40",
            "${ .tasks.a.output | {n: (.files | length)} }       => `{\"n\":2}`",
            "${ {\"a\": {\"b\": \"}\"}} }                        => `{\"a\":{\"b\":\"}\"}}`",
            "${ \"in \\( {a: 1} | .a ) }\" }                     => `\"in 1 }\"`",
            "${ empty }                                          => null",
            "${ if .inputs.n > 2 then \"many\" else \"few\" end } => `\"many\"`",
            "${ .inputs.path | test(\"^s.c$\") }                 => true",
            "${ \"a1b22\" | [scan(\"[0-9]+\")] }                 => `[\"1\",\"22\"]`",
            "${ \"aXbxc\" | [match(\"x\"; \"gi\").offset] }      => `[1,3]`",
            "${ \"2024-05\" | capture(\"(?<y>[0-9]+)-(?<m>[0-9]+)\") } => `{\"y\":\"2024\",\"m\":\"05\"}`",
            "${ \"abc\" | [sub(\"(?<l>.)\"; \"\\(.l)1\", \"\\(.l)2\")] } => `[\"a1bc\",\"a2bc\"]`",
            "${ \"abc\" | gsub(\"\"; \"-\") }                    => `\"-a-b-c-\"`",
            "${ \"a, b,c\" | [splits(\", *\")] }                 => `[\"a\",\"b\",\"c\"]`",
            "${ reduce .steps.list.output[] as $x (0; . + $x) }  => 6",
            "${ [foreach .steps.list.output[] as $x (0; . + $x)] } => `[1,3,6]`",
            "${ [.steps.list.output[] | select(. > 1)] }         => `[2,3]`",
            "${ try error(\"x\") catch . }                       => `\"x\"`",
            "${ .steps.list.output | .[0] = 9 }                  => `[9,2,3]`",
            "${ {a: 1} | .a |= . + 1 | .b += 5 }                 => `{\"a\":2,\"b\":5}`",
            "${ 1 | [limit(3; repeat(. * 2))] }                  => `[2,2,2]`",
            "${ . as {inputs: {n: $n}} | $n }                    => 3",
            "${ def twice(f): f | f; 2 | twice(. * 3) }          => 18",
            "${ [range(5)] | .[1:3] }                            => `[1,2]`",
            "${ label $done | 1, break $done, 2 }                => 1",
            "${ {\"b\": 1, \"a\": 2} | keys }                    => `[\"a\",\"b\"]`",
            "${ [3, 1, 2] | sort_by(-.) }                        => `[3,2,1]`",
            "${ [1, [2, [3]]] | flatten }                        => `[1,2,3]`",
            "${ \" x \" | trim }                                 => `\"x\"`",
            "${ .item.k + (.index | tostring) }                  => `\"v4\"`",
            "${ @base64 \"x\\(.inputs.n)\" }                     => `\"xMw==\"`",
            "${ [..] | length > 10 }                             => true",
            "${ nan }                                            => null",
            "${ \"\\u0000\\ud800\" }                             => `\"\uFFFD\uFFFD\"`",
            "in ${ .inputs.path }: ${ .steps.list.output }, ${ null } => `\"in src: [1,2,3], null\"`",
            "$${ .inputs.path } costs $5                         => `\"${ .inputs.path } costs $5\"`",
            "plain                                               => `\"plain\"`",
            "at ${ 1764300000123 / 1000 | floor }, ${ [0.00005, 2.50, 1e3] } => `\"at 1764300000, [0.00005,2.5,1000]\"`",
            "`\n  ${ [1, 2] }\n`                                  => [1,2]",
            "`x\n${ 1 }\n`                                       => `\"x\\n1\\n\"`",
    })
    void resolves(String template, String expected) {
        JsonNode value = expressions.resolve(StringNode.valueOf(template), SCOPE);
        assertThat(value.toString()).isEqualTo(json(expected).toString());
    }

    @Test
    void resolvesWholeTreesAndLeavesTheRestAlone() {
        JsonNode template = json("""
                {"a": ["${ .inputs.n }", 7, null, true], "${ .x }": {"b": "n=${ .inputs.n }"}}""");
        assertThat(expressions.resolve(template, SCOPE)).isEqualTo(json("""
                {"a": [3, 7, null, true], "${ .x }": {"b": "n=3"}}"""));
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "${ .inputs.n == 3 } => true", "${ .inputs.nothing } => false", "${ empty } => false", "${ 0 } => true",
            "`${ false }\n` => false", "`  ${ 1 }` => true",
            "${ .tasks.a.state != \"completed\" } => false"})
    void conditionsFollowJqsTruth(String template, boolean expected) {
        assertThat(expressions.condition(template, SCOPE)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "", "${ 1 } and ${ 2 }"})
    void aConditionIsExactlyOneExpression(String template) {
        assertFails(() -> expressions.condition(template, SCOPE), "EXPRESSION_SYNTAX");
    }

    @ParameterizedTest
    @ValueSource(strings = {"${ .a", "${ }", "${ .a | }", "${ nosuch }", "${ nosuch(1) }", "${ env }", "${ $ENV }",
            "${ now }", "${ input }", "${ debug }", "${ halt }", "${ import \"x\" as x; 1 }", "${ $__loc__ }",
            "${ \"open }", "${ [1, 2 }", "x ${ 1 +", "${ @nosuch }", "${ builtins }", "${ $nope }",
            "${ strftime(\"%Y\") }",
            "${ localtime }", "${ have_decnum }", "${ break $out }", "${ {(1): 2} }", "${ 1 == 2 == 3 }", "${ a::b }",
            "${ \"\\v\" }"})
    void namesWhatIsWrongBeforeItRuns(String template) {
        assertThat(expressions.check(template)).extracting(ExprProblem::code).containsExactly("EXPRESSION_SYNTAX");
        assertFails(() -> expressions.resolve(StringNode.valueOf(template), SCOPE), "EXPRESSION_SYNTAX");
    }

    @Test
    void namesAllProblemsAtOnceWithPositions() {
        assertThat(expressions.check("a ${ .ok } ${ nosuch } b ${ ) }"))
                .extracting(ExprProblem::offset).containsExactly(11, 25);
        assertThat(expressions.check("fine ${ .inputs.path } $${ not one")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"${ 1, 2 }", "${ .inputs.path.deeper }", "${ error(\"x\") }", "${ .inputs.n | keys }",
            "${ \"x\" | test(\"(\") }", "${ \"x\" | test(\"(a)\\\\1\") }", "${ \"x\" | test(\"x\"; \"q\") }"})
    void failuresHaveACode(String template) {
        assertFails(() -> expressions.resolve(StringNode.valueOf(template), SCOPE), "EXPRESSION_FAILED");
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "[range(1e9)]                                              => EXPRESSION_OUTPUT_TOO_LARGE",
            "reduce range(1e12) as $i (0; . + 1)                       => EXPRESSION_TIMEOUT",
            "last(range(1e12))                                         => EXPRESSION_TIMEOUT",
            "[limit(1e9; repeat(1))]                                   => EXPRESSION_TOO_DEEP",
            "def f: f; f                                               => EXPRESSION_TOO_DEEP",
            "def f: 1 + f; f                                           => EXPRESSION_TOO_DEEP",
            "def f: [f]; try f catch 1                                 => EXPRESSION_TOO_DEEP",
            "0 | [recurse(. + 1)]                                       => EXPRESSION_TOO_DEEP",
            "reduce range(60) as $i (\"x\"; . + .)                     => EXPRESSION_OUTPUT_TOO_LARGE",
            "reduce range(60) as $i ([1]; . + .)                       => EXPRESSION_OUTPUT_TOO_LARGE",
            "reduce range(60) as $i (1; [., .]) | tojson               => EXPRESSION_OUTPUT_TOO_LARGE",
            "reduce range(60) as $i (1; {a: ., b: .}) | tojson         => EXPRESSION_OUTPUT_TOO_LARGE",
            "reduce range(100000) as $i (1; [.])                       => EXPRESSION_TOO_DEEP",
            "reduce range(180) as $i (1; [.])                          => ok",
            "reduce range(181) as $i (1; [.])                          => OUTPUT_INVALID",
            "(\"{},\" * 2000000) | \"[\" + . + \"1]\" | fromjson | length => EXPRESSION_OUTPUT_TOO_LARGE",
            "\"[{},1]\" | fromjson                                      => ok",
            "\"xxxxxxxxxx\" * 1e9                                      => EXPRESSION_OUTPUT_TOO_LARGE",
            "null | .[1e9] = 1                                         => EXPRESSION_OUTPUT_TOO_LARGE",
            "null | setpath([1e9]; 1)                                  => EXPRESSION_OUTPUT_TOO_LARGE",
            "[range(1e5)] | [.[] as $a | .[] as $b | .[] as $c | 1] | length => EXPRESSION_OUTPUT_TOO_LARGE",
            "[range(1e5)] as $x | $x[] as $a | $x[] as $b | $x[] as $c | empty => EXPRESSION_TIMEOUT",
            "[range(1e5)] as $x | $x | contains($x)                    => EXPRESSION_TIMEOUT",
            "(\"a\" * 2000000) as $x | $x | indices(\"a\" * 100000)    => EXPRESSION_TIMEOUT",
            "(\"a\" * 20000000) | test(\"(a*)*(a*)*(a*)*b\")           => EXPRESSION_TIMEOUT",
            "(\"a\" * 20000000) | explode | length                     => EXPRESSION_OUTPUT_TOO_LARGE",
            "[range(300000) | \"0123456789\"] | join(\"\") | length    => ok",
            "\"x\" * 5000000                                           => EXPRESSION_OUTPUT_TOO_LARGE",
            "[range(100)] | map(. * 2) | add                           => ok",
            "[range(1000) | tostring] | add | length                   => ok",
            "[1 | until(. > 100; . + 1)]                               => ok",
    })
    void aRunawayEnds(String expression, String code) {
        Duration time = code.equals("EXPRESSION_TIMEOUT") ? Duration.ofMillis(300) : Duration.ofSeconds(15);
        ExpressionLimits all = ExpressionLimits.DEFAULT;
        Expressions bounded = new Expressions(new ExpressionLimits(time, all.depth(),
                all.valueBytes(), all.totalBytes(), all.outputChars(), all.expressionChars()));
        try {
            bounded.resolve(StringNode.valueOf("${ " + expression + " }"), SCOPE);
            assertThat("ok").isEqualTo(code);
        } catch (ExpressionException e) {
            assertThat(e.code() + " " + e.getMessage()).startsWith(code).doesNotContain("PT0");
        }
    }

    @Test
    void deepBracketsAreRefusedAndAllowedOnesParseFast() {
        assertThat(expressions.check("${ " + "(".repeat(5_000) + "1" + ")".repeat(5_000) + " }")).hasSize(1);
        assertThat(expressions.check("${ " + "[".repeat(90) + "1" + "]".repeat(90) + " }")).isEmpty();
        assertThat(expressions.check("${ " + "(".repeat(90) + "1" + ")".repeat(90) + " }")).isEmpty();
        assertThat(expressions.check("${ " + "{a:".repeat(90) + "1" + "}".repeat(90) + " }")).isEmpty();
    }

    @Test
    void anInterruptEndsTheEvaluation() {
        Thread.currentThread().interrupt();
        assertFails(() -> expressions.resolve(StringNode.valueOf("${ last(range(1e12)) }"), SCOPE),
                "EXPRESSION_INTERRUPTED");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aFailureNamesTheMemberAndTheExpression() {
        String members = "{\"a/b\": [1, {\"c\": \"n is ${ .inputs.n + 1 }\"}]}";
        assertThatThrownBy(() -> expressions.resolve(json(members), json("{\"inputs\": {\"n\": \"five\"}}")))
                .hasMessage("/a~1b/1/c: ${ .inputs.n + 1 }: string (\"five\") and number (1) cannot be added");
        assertThatThrownBy(() -> expressions.resolve(json("[\"${ .n.m }\"]"), json("{\"n\": 1}")))
                .hasMessage("/0: ${ .n.m }: cannot read .m of a number");
        assertThatThrownBy(() -> expressions.condition("${ .n, .n }", json("{\"n\": 1}")))
                .hasMessageStartingWith("${ .n, .n }: the expression gives 2 values");
        assertThatThrownBy(() -> expressions.resolve(
                json("{\"" + "m".repeat(1_000) + "\": \"${ \\\"" + "x".repeat(1_000) + "\\\" + 1 }\"}"), SCOPE))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));
    }

    @Test
    void boundsAreTheCallersChoice() {
        Expressions small = new Expressions(new ExpressionLimits(Duration.ofMillis(50), 20, 1_000, 10_000, 10, 30));
        assertFails(() -> small.resolve(StringNode.valueOf("${ \"12345678901\" }"), SCOPE),
                "EXPRESSION_OUTPUT_TOO_LARGE");
        assertThat(small.check("${ .a + .b + .c + .d + .e + .f + .g }")).hasSize(1);
    }

    @Test
    void namesWhatATemplateRefersTo() {
        assertThat(expressions.references(json("""
                {"a": "${ .tasks.a.output.x }", "b": ["${ .tasks[\\"b-c\\"].state + .inputs.path }"],
                 "c": "${ .steps.list.output | map(.tasks) | length } ${ .run.name }",
                 "d": "${ {x: .tasks.d.output, y: (if .inputs.n then .tasks.e else 1 end)} }"}""")))
                .isEqualTo(new References(Set.of("a", "b-c", "d", "e"), false, Set.of("list"), false,
                        Set.of("path", "n"), false, Set.of("run.name"), Set.of(), false,
                        Set.of("tasks", "steps", "inputs", "run")));
    }

    @Test
    void expressionReadsItsScope() {
        References some = expressions.references(json("[\"${ .task.output.x }\", \"${ .run | keys }\"]"));
        assertThat(some.reach("task", "output")).isTrue();
        assertThat(some.reach("task", "attempt")).isFalse();
        assertThat(some.reach("run", "plan")).as("the whole of it").isTrue();
        assertThat(some.reach("failure")).isFalse();
        assertThat(expressions.references(json("\"${ .failure.tasks }\"")).reach("failure")).isTrue();
        assertThat(expressions.references(json("\"${ . }\"")).reach("failure")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"${ .tasks | keys }", "${ . }", "${ .. }", "${ . as $x | $x.tasks.a }", "${ keys }",
            "${ .tasks[.inputs.path] }", "${ .inputs.path as $p | .tasks[$p] }", "${ getpath([\"tasks\", \"a\"]) }",
            "${ .inputs.n |= 3 }", "${ .[\"tasks\"] }", "${ .tasks[] }", "${ \"\\(.tasks)\" }",
            "${ try .tasks catch 1 }", "${ {x: .run.name, tasks} }", "${ {x: .run.name, \"tasks\"} }",
            "${ def f: .tasks; 1 }", "${ reduce .tasks[] as $t (0; . + 1) }"})
    void seesWhenATemplateCanReachAnyTask(String template) {
        assertThat(expressions.references(StringNode.valueOf(template)).allTasks()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiterString = " => ", quoteCharacter = '`', textBlock = """
            .a.b => a
            .["a"].b[.c] => a,c
            [.a[], {b: .b, c}, "\\(.d)", -.e, .f + 1] => a,b,c,d,e,f
            .a // .b => a,b
            if .a then .b else .c end => a,b,c
            .a as $x | .b | .c => a,b
            .a as $x | $x + .b => a,b
            .a | .b => a
            .a | map(.b) => a
            map(.b) => ``
            with_entries(.key) => ``
            def f: .a; f => ``
            reduce .a[] as $x (.b; . + .c) => a,b
            foreach .a[] as $x (.b; .c; .d) => a,b
            try .a catch .b => a
            .a?.b => a
            .new = .a => a
            .a |= .b => ``
            . | .a => ``
            """)
    void findsTheNamesThatAreReadFromTheScopeItself(String program, String names) {
        Set<String> expected = names.isEmpty() ? Set.of() : Set.of(names.split(","));
        assertThat(expressions.references(StringNode.valueOf("${ " + program + " }")).roots()).isEqualTo(expected);
    }

    @Test
    void aKeyWithoutAValueReadsTheInput() {
        assertThat(expressions.evaluate("{a, \"b\", c: .c.d}", json("{\"a\": 1, \"b\": 2, \"c\": {\"d\": 3}}")))
                .containsExactly(json("{\"a\": 1, \"b\": 2, \"c\": 3}"));
    }

    /** What is reckoned with comes out the same, however exactly it was read. */
    @ParameterizedTest
    @ValueSource(strings = {".a + 1", ".a * 2.5", ".b / 4", ".b % 4", "-.a", ".a | floor", ".a | tostring", ".a | type",
            ".a == 1.5", ".b == 3", "[.b, 3] | unique", "[.c[] | . * 2]", ".c | sort", ".c | max", ".c | add",
            ".c | index(2.0)", ".c[.b - 2]", "[range(.b)]", ".c | group_by(.) | length", ".a | tojson", ".a | sqrt",
            "[.c[] | select(. > 1.2)]", ".c[1:.b]", "{a: .a} == {a: 1.5}", ".c | contains([1.5])", ".a | round",
            "[limit(.b; repeat(1))]", "@json \"\\(.c)\"", ".c - [1.5]", ".a | not", ".b | tostring"})
    void decimalsAreReckonedWithAsDoubles(String expression) {
        String scope = "{\"a\": 1.5, \"b\": 3.0, \"c\": [2.5, 1.5, 2.0, 1e2]}";
        assertThat(values(expression, Json.read(scope))).isEqualTo(values(expression, json(scope)));
    }

    private List<JsonNode> values(String expression, JsonNode scope) {
        return expressions.evaluate(expression, scope).stream().map(value -> json(value.toString())).toList();
    }

    @Test
    void aBareExpressionGivesAllItsValues() {
        assertThat(expressions.evaluate(".[] | . + 1", json("[1, 2]"))).extracting(JsonNode::intValue)
                .isEqualTo(List.of(2, 3));
    }

    private static void assertFails(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String code) {
        assertThatThrownBy(call).isInstanceOfSatisfying(ExpressionException.class,
                e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code));
    }

    private static JsonNode json(String text) {
        return JSON.readTree(text);
    }

    /** Two values of one parsed tree, of which the first is changed by its reader. */
    @Test
    void aParsedTreeIsSharedAndNeverChanged() {
        String text = "{\"list\": [1, {\"at\": \"${ .steps.a.output }\"}], \"plain\": {\"n\": 1}}";
        Expressions.Parsed parsed = expressions.parsed(text);
        assertThat(expressions.parsed(text)).isSameAs(parsed);
        assertThat(parsed.references()).isEqualTo(expressions.references(json(text)));

        JsonNode first = expressions.resolve(parsed, json("{\"steps\": {\"a\": {\"output\": {\"x\": 1}}}}"));
        assertThat(first).isEqualTo(json("{\"list\": [1, {\"at\": {\"x\": 1}}], \"plain\": {\"n\": 1}}"));
        ((ObjectNode) first.get("plain")).put("n", 2);
        ((ObjectNode) first.at("/list/1")).put("at", 2);
        assertThat(expressions.resolve(parsed, json("{\"steps\": {\"a\": {\"output\": 2}}}")))
                .isEqualTo(json("{\"list\": [1, {\"at\": 2}], \"plain\": {\"n\": 1}}"));
        assertThat(parsed.json()).isEqualTo(json(text));
    }
}
