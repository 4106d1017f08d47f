package io.keelson.server.work.builtin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.money.Tokens;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

class SimpleToolsTest {

    @TempDir
    Path folder;
    private Calls calls;

    @BeforeEach
    void setUp() {
        calls = new Calls(ToolPolicy.of(List.of(folder)), folder.resolve("artifacts"));
    }

    @Test
    void theCatalogueHasEveryBuiltInToolWithUsableSchemas() {
        assertThat(calls.catalog.all()).extracting(tool -> tool.spec().name()).containsExactly("agent.ask",
                "agent.delegate",
                "artifact.write", "echo",
                "fail", "files.list", "files.read", "files.search", "http.request", "json.transform", "noop",
                "plan.fallback", "plan.propose", "process.run", "proposal.create", "run.start", "signal.wait",
                "text.template",
                "verify.jq",
                "verify.json_schema", "verify.keywords", "verify.length", "verify.regex",
                "verify.sections", "verify.urls", "wait");
        assertThat(calls.catalog.all()).allSatisfy(tool -> {
            assertThat(tool.spec().description()).isNotBlank();
            assertThat(tool.spec().defaultTimeout()).isPositive();
            assertThat(tool.spec().engineOwned())
                    .isEqualTo(Set.of("wait", "signal.wait", "run.start").contains(tool.spec().name()));
        });
    }

    @Test
    void toolsDeclareTheirEffects() {
        assertThat(named(Effects.READ)).containsExactly("agent.ask", "echo", "fail", "files.list", "files.read",
                "files.search",
                "json.transform", "noop", "plan.fallback", "signal.wait", "text.template", "verify.jq",
                "verify.json_schema", "verify.keywords", "verify.length", "verify.regex", "verify.sections",
                "verify.urls", "wait");
        assertThat(named(Effects.IDEMPOTENT)).containsExactly("artifact.write", "plan.propose", "proposal.create",
                "run.start");
        assertThat(named(Effects.ONCE)).containsExactly("agent.delegate");
        assertThat(named(Effects.DESTRUCTIVE)).containsExactly("http.request", "process.run");
    }

    private List<String> named(Effects effects) {
        return calls.catalog.all().stream().map(Tool::spec).filter(spec -> spec.effects() == effects)
                .map(ToolSpec::name).toList();
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "echo           => {\"a\": [1, null]}                                        => {\"a\":[1,null]}",
            "noop           => {}                                                        => {}",
            "noop           => {\"output\": {\"x\": 1}}                                  => {\"x\":1}",
            "json.transform => {\"expression\": \".a + 1\", \"input\": {\"a\": 2}}       => 3",
            "json.transform => {\"expression\": \".[] * 2\", \"input\": [1, 2]}          => [2,4]",
            "json.transform => {\"expression\": \"empty\"}                               => null",
            "text.template  => {\"template\": \"hi {{name}}{{missing}}\", \"data\": {\"name\": \"<b>\"}} => `\"hi <b>\"`",
            "text.template  => {\"template\": \"{{a}} {{b}}\", \"data\": {\"a\": 1.7643E9, \"b\": 0.00005}} => `\"1764300000 0.00005\"`",
            "text.template  => {\"template\": \"{{n}}\", \"data\": {\"n\": \"<\"}, \"escape\": \"html\"} => `\"&lt;\"`",
            "text.template  => {\"template\": \"{{#l}}{{a.b}},{{/l}}{{^e}}none{{/e}}\", \"data\": {\"l\": [{\"a\": {\"b\": 1}}, {\"a\": {\"b\": 2.5}}], \"e\": []}} => `\"1,2.5,none\"`",
            "text.template  => {\"template\": \"{{#l}}{{.}}{{/l}} {{o}} {{f}}\", \"data\": {\"l\": [\"a\", \"b\"], \"o\": {\"k\": [1]}, \"f\": false}} => `\"ab {\\\"k\\\":[1]} false\"`",
            "text.template  => {\"template\": \"{{s.class}}{{s.length}}{{m.getClass}}\", \"data\": {\"s\": \"x\", \"m\": {}}} => `\"\"`",
            "echo           => \"\\u0000a\\ud800\"                                       => `\"\uFFFDa\uFFFD\"`",
    })
    void gives(String tool, String input, String output) {
        assertThat(calls.output(tool, input).toString()).isEqualTo(Calls.json(output).toString());
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "nosuch         => {}                                     => TOOL_UNKNOWN",
            "noop           => {\"token\": 1}                         => TOOL_INPUT_INVALID",
            "noop           => {\"cost\": -1}                         => TOOL_INPUT_INVALID",
            "wait           => {\"seconds\": 1, \"until\": \"2026-01-01T00:00:00Z\"} => TOOL_INPUT_INVALID",
            "wait           => {}                                     => TOOL_INPUT_INVALID",
            "json.transform => {\"expression\": \".a |\"}             => EXPRESSION_SYNTAX",
            "json.transform => {\"expression\": \".a.b\", \"input\": {\"a\": 1}} => EXPRESSION_FAILED",
            "json.transform => {\"expression\": \"reduce range(181) as $i (1; [.])\"} => OUTPUT_INVALID",
            "text.template  => {\"template\": \"{{#open}}\"}          => TEMPLATE_INVALID",
            "text.template  => {\"template\": \"{{>partial}}\"}       => TEMPLATE_INVALID",
            "artifact.write => {\"name\": \"../x\", \"content\": \"\"} => ARTIFACT_NAME_INVALID",
            "artifact.write => {\"name\": \"a\\\\b\", \"content\": \"\"} => ARTIFACT_NAME_INVALID",
            "artifact.write => {\"name\": \"..\", \"content\": \"\"}   => ARTIFACT_NAME_INVALID",
            "artifact.write => {\"name\": \"a\\u0000\", \"content\": \"\"} => ARTIFACT_NAME_INVALID",
            "artifact.write => {\"name\": \"a\\ud800\", \"content\": \"\"} => ARTIFACT_NAME_INVALID",
            "artifact.write => {\"name\": \"a\", \"content\": \"\", \"content_type\": \"x\\r\\ny: z\"} => ARTIFACT_TYPE_INVALID",
            "artifact.write => {\"name\": \"a\", \"content\": \"\", \"json\": 1} => TOOL_INPUT_INVALID",
            "artifact.write => {\"name\": \"a\"}                      => TOOL_INPUT_INVALID",
    })
    void refuses(String tool, String input, String code) {
        ToolFailure failure = calls.failure(tool, input);
        assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code);
        assertThat(failure.errorClass()).isEqualTo(ErrorClass.PERMANENT);
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "run.start      => {\"plans\": {}, \"recipe\": \"a\"} => : property 'plans' is not defined in the schema and the schema does not allow additional properties",
            "run.start      => {}                                  => : must have 'plan' or 'recipe'",
            "run.start      => {\"recipe\": \"a\", \"plan\": {}}    => : must have only one of 'plan', 'recipe'",
            "files.list     => {\"glob\": 5}                      => /glob: must be string or array",
            "files.list     => {\"glob\": [\"a\", 5]}              => /glob/1: integer found, string expected"})
    void aValueThatFitsNoAlternativeIsOneProblem(String tool, String input, String problem) {
        assertThat(calls.catalog.validateInput(calls.catalog.find(tool).orElseThrow(), Calls.json(input)))
                .extracting(each -> each.pointer() + ": " + each.message()).containsExactly(problem);
    }

    @Test
    void aLongOutputIsRefused() {
        String text = "\"" + "x".repeat(1 << 20) + "\"";
        assertThat(calls.failure("echo", text).code()).isEqualTo("OUTPUT_TOO_LARGE");
        String list = "[" + "1,".repeat(500) + "1]";
        String nested = "{\"template\": \"{{#l}}{{#l}}{{#l}}x{{/l}}{{/l}}{{/l}}\", \"data\": {\"l\": " + list + "}}";
        assertThat(calls.failure("text.template", nested).code()).isEqualTo("OUTPUT_TOO_LARGE");
        assertThat(calls.failure("text.template", nested.replace("x", "")).code()).isEqualTo("OUTPUT_TOO_LARGE");
    }

    @Test
    void noopReportsDeclaredTokensAndCost() throws Exception {
        ToolResult result = calls.execute("noop", "{\"tokens\": 12, \"cost\": 0.25}");
        assertThat(result.usage().tokens()).isEqualTo(Tokens.undivided(12));
        assertThat(result.usage().cost()).isEqualByComparingTo(new BigDecimal("0.25"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', value = {
            "{\"times\": 1, \"model\": \"m\", \"cost\": 0.5, \"tokens\": 4}                     | m | 0 0 0 4",
            "{\"times\": 1, \"usage\": {\"input\": 1, \"cache_read\": 2, \"cache_write\": 3}}    |   | 1 2 3 0",
            "{\"times\": 1, \"model\": \"m\", \"usage\": {\"cache_read\": 2, \"output\": 9}}     | m | 0 2 0 9"})
    void failedCallReportsItsUsageLikeAGoodOne(String input, String model, String parts) throws Exception {
        ToolUsage good = calls.execute("fail", Calls.json(input), 2).usage();
        ToolUsage failed = calls.failure("fail", input).spent();

        assertThat(failed).isEqualTo(good)
                .isEqualTo(calls.execute("noop", input.replace("\"times\": 1, ", "")).usage());
        assertThat(failed.model()).isEqualTo(model);
        Tokens used = failed.tokens();
        assertThat(used.input() + " " + used.cacheRead() + " " + used.cacheWrite() + " " + used.output())
                .isEqualTo(parts);
    }

    @Test
    void failFailsTheGivenNumberOfAttempts() throws Exception {
        JsonNode input = Calls.json("""
                {"code": "BROKEN", "class": "quality", "message": "no", "times": 2, "retry_after_seconds": 1.5}""");
        for (int attempt = 1; attempt <= 2; attempt++) {
            int each = attempt;
            assertThatThrownBy(() -> calls.execute("fail", input, each)).isInstanceOfSatisfying(ToolFailure.class,
                    e -> {
                        assertThat(e.code()).isEqualTo("BROKEN");
                        assertThat(e.errorClass()).isEqualTo(ErrorClass.QUALITY);
                        assertThat(e).hasMessage("no");
                        assertThat(e.retryAfter()).isEqualTo(Duration.ofMillis(1500));
                    });
        }
        assertThat(calls.execute("fail", input, 3).output()).isEqualTo(Calls.json("{\"attempt\": 3}"));
        assertThat(calls.failure("fail", "{}").errorClass()).isEqualTo(ErrorClass.INFRASTRUCTURE);
    }

    @Test
    void artifactsAreStoredWithHashAndSize() throws Exception {
        ToolResult result = calls.execute("artifact.write", "{\"name\": \"report.md\", \"content\": \"héllo\\n\"}");
        assertThat(result.output().toString()).isEqualTo(Calls.json("""
                {"name": "report.md", "content_type": "text/markdown; charset=utf-8", "size_bytes": 7,
                 "sha256": "b95becd154aa095f76c4ca47a5aeb8350d6dfcb838404edfc9dae06628de938d"}""").toString());
        try (var stored = calls.store.open(result.artifacts().getFirst().storageKey())) {
            assertThat(new String(stored.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("héllo\n");
        }
        assertThat(calls.output("artifact.write", "{\"name\": \"x\", \"json\": {\"a\": 1}}").get("content_type")
                .stringValue()).isEqualTo("application/json");
    }

    @Test
    void templatesAreCheckedExceptForExpressions() {
        Tool tool = calls.catalog.find("files.list").orElseThrow();
        assertThat(calls.catalog.validateTemplate(tool, Calls.json("""
                {"path": "${ .inputs.path }", "recursive": "${ .inputs.deep }"}"""))).isEmpty();
        assertThat(calls.catalog.validateTemplate(tool, Calls.json("""
                {"recursive": "yes", "nosuch": 1}"""))).extracting("pointer").containsExactly("", "/recursive");
    }

    @Test
    void anOutputOfManySmallValuesIsBoundedToo() {
        JsonNode many = JsonMapper.shared().valueToTree(new int[600_000]);
        JsonNode input = JsonNodeFactory.instance.objectNode().set("a", many);
        assertThatThrownBy(() -> calls.execute("echo", input, 1))
                .isInstanceOfSatisfying(ToolFailure.class, e -> assertThat(e.code()).isEqualTo("OUTPUT_TOO_LARGE"));
    }
}
