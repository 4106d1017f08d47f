package io.keelson.server.work.builtin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.policy.ErrorClass;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.tenant.secret.Redaction;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class VerifiersTest {

    @TempDir
    Path folder;
    private Calls calls;

    @BeforeEach
    void setUp() {
        calls = new Calls(ToolPolicy.of(List.of(folder)), folder.resolve("artifacts"));
    }

    /** A secret that ends behind the cut is redacted as a whole. */
    @Test
    void secretsAreRedactedBeforeTheFeedbackIsCut() {
        String secret = "the-secret-value";
        Redaction redaction = Redaction.NONE.and(List.of(secret));
        ToolResult rejected = VerifierAnswers.rejected(redaction, "x".repeat(3_990) + secret + "y".repeat(100));
        assertThat(rejected.output().get("feedback").stringValue()).contains(Redaction.REDACTED).doesNotContain("the-")
                .hasSizeLessThan(4_100);
    }

    /** Tool | rule | output | what is wrong with it, nothing when it passes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "json_schema | \"schema\": {\"type\": \"object\"}                        | {}        | ",
            "json_schema | \"schema\": false                                         | 1         | the output: ",
            "json_schema | \"schema\": {\"properties\": {\"a\": {\"minimum\": 3}}}   | {\"a\": 2} | /a: must have a minimum",
            "json_schema | \"schema\": {\"required\": [\"a\", \"b\"]}                | {}        | 'a' not found; the output:",
            "json_schema | \"schema\": {\"pattern\": \"^(a+)+$\"}                    | \"aaaa!\" | the output: does not match",
            "jq          | \"expression\": \".a > 1\"                                | {\"a\": 2} | ",
            "jq          | \"expression\": \".a > 1\"                                | {\"a\": 1} | does not meet .a > 1",
            "jq          | \"expression\": \".a > 1\", \"feedback\": \"too small\"   | {\"a\": 1} | too small",
            "jq          | \"expression\": \"if .a then true else \\\"no a\\\" end\" | {}        | no a",
            "jq          | \"expression\": \".a\"                                    | {\"a\": 1} | does not meet .a",
            "jq          | \"expression\": \"true, true\"                            | {}        | does not meet true, true",
            "jq          | \"expression\": \".a.b == 1\"                             | \"text\"  | does not meet .a.b == 1 (",
            "regex       | \"pattern\": \"b+\"                                       | \"abba\"  | ",
            "regex       | \"pattern\": \"^b\"                                       | \"abba\"  | the output does not match ^b",
            "regex       | \"pattern\": \"b\", \"absent\": true                      | \"abba\"  | the output matches b",
            "regex       | \"pattern\": \"x\", \"absent\": true                      | \"abba\"  | ",
            "regex       | \"pattern\": \"x\", \"feedback\": \"say x\"               | \"abba\"  | say x",
            "regex       | \"pattern\": \"\\\"n\\\":7\"                              | {\"n\": 7} | ",
            "length      | \"min\": 2, \"max\": 4                            | \"abba\"  | ",
            "length      | \"min\": 2, \"unit\": \"words\"                | \"abba\"  | has 1 words, at least 2",
            "length      | \"max\": 3                                         | \"abba\"  | has 4 characters, at most 3",
            "keywords    | \"keywords\": [\"BB\", \"c\"]                   | \"abba\"  | 'c' is missing",
            "keywords    | \"keywords\": [\"BB\"], \"absent\": true        | \"abba\"  | 'BB' is in the output",
            "keywords    | \"keywords\": [\"BB\"]                            | \"abba\"  | ",
            "urls        | \"min\": 1, \"hosts\": [\"a.org\"]             | \"see http://x.a.org/p?q.\" | ",
            "urls        | \"min\": 2                                         | \"see http://a.org\" | has 1 URLs, at least 2",
            "urls        | \"hosts\": [\"a.org\"]                            | \"http://ba.org/x\" | http://ba.org/x is not of an allowed host",
            "urls        | \"min\": 1                                         | \"http://%/\" | http://%/ is no valid URL",
            "sections    | \"sections\": [\"A\"]                                     | {}        | the output must be text",
            "sections    | \"sections\": [\"summary\"]                               | \"# Summary\\nyes\" | ",
            "sections    | \"sections\": [\"A\", \"B\"]                              | \"# A\\n\\n# C\\nx\" | section 'A' is empty; section 'B' is missing"})
    void judges(String tool, String rule, String output, @Nullable String flaw) {
        JsonNode verdict = calls.output("verify." + tool, "{" + rule + ", \"output\": " + output + "}");

        assertThat(verdict.get("verdict").stringValue()).isEqualTo(flaw == null ? "passed" : "rejected");
        if (flaw == null) {
            assertThat(verdict.get("score").doubleValue()).isEqualTo(1);
            assertThat(verdict.get("feedback").isNull()).isTrue();
        } else {
            assertThat(verdict.get("score").doubleValue()).isLessThan(1);
            assertThat(verdict.get("feedback").stringValue()).contains(flaw);
        }
    }

    @Test
    void sectionsAreScoredByTheirShare() {
        assertThat(calls.output("verify.sections",
                "{\"sections\": [\"A\", \"B\", \"C\", \"D\"], \"output\": \"# A\\nx\\n# B\\ny\\n# C\\nz\"}")
                .get("score").doubleValue()).isEqualTo(0.75);
    }

    @Test
    void feedbackIsBounded() {
        String schema = "{\"items\": {\"type\": \"string\"}}";
        String numbers = "[" + "1,".repeat(5_000) + "1]";
        String feedback =
                calls.output("verify.json_schema", "{\"schema\": " + schema + ", \"output\": " + numbers + "}")
                        .get("feedback").stringValue();

        assertThat(feedback).endsWith("and 4981 more").hasSizeLessThan(5_000);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "json_schema | \"schema\": {\"$ref\": \"#\"}      | INVALID_SCHEMA",
            "json_schema | \"schema\": {\"pattern\": \"(?=x)\"} | INVALID_SCHEMA",
            "json_schema | \"schema\": {\"type\": \"text\"}   | INVALID_SCHEMA",
            "jq          | \"expression\": \".a + \"          | EXPRESSION_SYNTAX",
            "regex       | \"pattern\": \"(?=x)\"             | PATTERN_INVALID",
            "sections    | \"sections\": []                   | TOOL_INPUT_INVALID"})
    void invalidRuleYieldsNoVerdict(String tool, String rule, String code) {
        ToolFailure failure = calls.failure("verify." + tool, "{" + rule + ", \"output\": {}}");

        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.errorClass()).isEqualTo(ErrorClass.PERMANENT);
    }

    /** Markdown (lines are parted by ~) | sections with text | sections without. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '§', nullValues = "none", value = {
            "# One~text                        | One        | none",
            "#One~text                         | none       | none",
            "### Deep title ###~text           | Deep title | none",
            "# ONE  more~~text                 | one more   | none",
            "# One~## Two~text                 | One,Two    | none",
            "# One~# Two~text                  | Two        | One",
            "## One~text~# Two~~## One         | One        | Two",
            "Under~=====~text~Less~---~        | Under      | Less",
            "# One~---~                        | none       | One",
            "# One~~~~sh~# Two~x~~~~~# Three   | One        | Three",
            "````~# One~```~x~````~# Two~y     | Two        | none",
            "x~~    # One~text                | none       | none"})
    void sectionsOfMarkdown(String text, @Nullable String filled, @Nullable String empty) {
        MarkdownSections sections = new MarkdownSections(text.replace("~~~~", "\n```\n").replace('~', '\n'));

        for (String title : titles(filled)) {
            assertThat(sections.hasText(title)).as(title).isTrue();
        }
        for (String title : titles(empty)) {
            assertThat(sections.has(title)).as(title).isTrue();
            assertThat(sections.hasText(title)).as(title).isFalse();
        }
        for (String title : List.of("One", "Two", "Three", "Under", "Less")) {
            if (!titles(filled).contains(title) && !titles(empty).contains(title)) {
                assertThat(sections.has(title)).as(title).isFalse();
            }
        }
    }

    private static List<String> titles(@Nullable String titles) {
        return titles == null ? List.of() : List.of(titles.split(","));
    }

    /** What failed | ids of the tasks planned for it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", value = {"a | a2,any", "b | b2,any", "a,b | a2,b2,any", "c | any"})
    void aFallbackPlanHasTheTasksOfTheRulesThatFit(String failed, String planned) {
        JsonNode plan = calls.output("plan.fallback", """
                {"failure": {"tasks": [%s]}, "rules": [
                  {"when_failed": "a", "tasks": [{"id": "a2"}]}, {"when_failed": "b", "tasks": [{"id": "b2"}]},
                  {"when_failed": "*", "tasks": [{"id": "any"}]}]}""".formatted(tasks(failed)));

        assertThat(plan.get("tasks").valueStream().map(task -> task.get("id").stringValue()))
                .containsExactly(planned.split(","));
    }

    @Test
    void missionWithoutAMatchingRuleHasNoPlan() {
        assertThat(calls.failure("plan.fallback", """
                {"failure": {"tasks": [%s]}, "rules": [{"when_failed": "a", "tasks": [{"id": "x"}]}]}"""
                .formatted(tasks("b"))).code()).isEqualTo("NO_FALLBACK");
    }

    private static String tasks(String ids) {
        return String.join(", ", List.of(ids.split(",")).stream()
                .map(id -> JsonMapper.shared().createObjectNode().put("key", id).toString()).toList());
    }
}
