package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.keelson.core.plan.PlanProblem;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class DocumentsTest {
    private static final String SIGNS = "{}[]:,-?&*!|>'\"%@`#\n\t\0";

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            JSON | {"a":                 | MALFORMED_JSON      | `` | (line 1, column 6)
            JSON | {"a":1} x             | MALFORMED_JSON      | `` | Unrecognized token 'x'
            JSON | {"a":1}{}             | MALFORMED_JSON      | `` | more after its end
            JSON | [1,]                  | MALFORMED_JSON      | `` | (line 1, column 4)
            JSON | {'a': 1}              | MALFORMED_JSON      | `` | (line 1, column 2)
            JSON | {"a": 01}             | MALFORMED_JSON      | `` | Leading zeroes
            JSON | {"a": NaN}            | MALFORMED_JSON      | `` | Non-standard token 'NaN' (line
            JSON | // c                  | MALFORMED_JSON      | `` | Unexpected character
            JSON | ``                    | MALFORMED_JSON      | `` | nothing in it
            JSON | {"a": 1e400}          | NUMBER_OUT_OF_RANGE | /a | '1e400'
            JSON | {"a": {"b":1,"b":2}}  | DUPLICATE_KEY       | /a/b | occurs twice
            JSON | {"a": ["\\u0000"]}    | INVALID_TEXT        | /a/0 | NUL
            JSON | {"a": "x\\ud800"}     | INVALID_TEXT        | /a | surrogate
            JSON | {"a": "\\udc00\\ud800"} | INVALID_TEXT      | /a | surrogate
            JSON | {"\\u0000": 1}        | INVALID_TEXT        | `` | NUL
            YAML | a: [1,                | MALFORMED_YAML      | `` | (line 1, column 7)
            YAML | a: b: c               | MALFORMED_YAML      | `` | mapping values are not allowed here (line 1, column 5)
            YAML | `a: 'x`               | MALFORMED_YAML      | `` | unexpected end of stream
            YAML | `? [x]`               | MALFORMED_YAML      | `` | property name
            YAML | ``                    | MALFORMED_YAML      | `` | nothing in it
            YAML | # only a comment      | MALFORMED_YAML      | `` | nothing in it
            YAML | {a: {b: 1, b: 2}}     | DUPLICATE_KEY       | /a/b | occurs twice
            YAML | a: "x\\0"             | INVALID_TEXT        | /a | NUL
            YAML | a: "\\uD800"          | INVALID_TEXT        | /a | surrogate
            YAML | a: .nan               | NUMBER_OUT_OF_RANGE | /a | '.nan'
            YAML | a: -.INF              | NUMBER_OUT_OF_RANGE | /a | '-.INF'
            YAML | {a: &x 1, b: *x}      | YAML_FEATURE        | /b | anchors and aliases
            YAML | a: &x [*x]            | YAML_FEATURE        | /a | anchors and aliases
            YAML | a: !!binary aGk=      | YAML_FEATURE        | /a | tags
            YAML | a: !!java.net.URL x   | YAML_FEATURE        | /a | tags
            """)
    void unreadableDocumentNamesThePosition(Format format, String text, String code, String pointer, String message) {
        assertThat(problems(text == null ? "" : text, format)).first().satisfies(problem -> {
            assertThat(problem.code()).isEqualTo(code);
            assertThat(problem.pointer()).isEqualTo(pointer == null ? "" : pointer);
            assertThat(problem.message()).contains(message).doesNotContain("Feature");
        });
    }

    @Test
    void lineAndColumnPointToTheMistake() {
        assertThat(problems("name: m\nplan:\n  tasks:\n\t- id: a\n", Format.YAML)).first()
                .extracting(PlanProblem::message).asString().contains("(line 4, column 1)");
        assertThat(problems("{\n  \"a\": 1,\n  \"b\" 2}", Format.JSON)).first()
                .extracting(PlanProblem::message).asString().contains("(line 3, column 7)");
    }

    @Test
    void severalDocumentsAreRefused() {
        assertThat(problems("a: 1\n---\nb: 2\n", Format.YAML)).extracting(PlanProblem::code)
                .containsExactly("MALFORMED_YAML");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16", "ISO-8859-1", "UTF-32"})
    void onlyUtf8IsRead(Charset charset) {
        byte[] bytes = "{\"a\": \"ÿ\"}".getBytes(charset);
        assertThat(Missions.problems(Documents.read(bytes, Format.JSON))).extracting(PlanProblem::code)
                .containsExactly("MALFORMED_JSON");
        assertThat(Missions.problems(Documents.read(bytes, Format.YAML))).extracting(PlanProblem::code)
                .containsExactly("MALFORMED_YAML");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            JSON | [
            JSON | {"a":
            YAML | [
            YAML | {a:
            YAML | -
            """)
    void deepNestingIsRefusedAtOnce(Format format, String level) {
        assertTimeoutPreemptively(Duration.ofSeconds(10),
                () -> assertThat(problems((level + " ").repeat(30_000), format))
                        .extracting(PlanProblem::code).containsExactly("TOO_DEEP"));
    }

    @Test
    void theDeepestThatIsReadIsReadInBothFormats() {
        String deepest = "[".repeat(Documents.MAX_DEPTH) + "]".repeat(Documents.MAX_DEPTH);
        assertThat(problems(deepest, Format.JSON)).isEmpty();
        assertThat(problems(deepest, Format.YAML)).isEmpty();
        assertThat(problems("[" + deepest + "]", Format.JSON)).hasSize(1);
    }

    @Test
    void aBillionLaughsAreRefusedAtOnce() {
        StringBuilder bomb = new StringBuilder("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
        for (int i = 1; i < 10; i++) {
            bomb.append("a%d: &a%d [%s]\n".formatted(i, i, ("*a" + (i - 1) + ", ").repeat(9)));
        }
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> assertThat(problems(bomb.toString(), Format.YAML))
                .isNotEmpty().allSatisfy(problem -> assertThat(problem.code()).isEqualTo("YAML_FEATURE")));
    }

    /** The YAML parser takes quadratic time over a line, so it never sees a long one. */
    @Test
    void aLongLineOfYamlIsRefusedBeforeItIsParsed() {
        for (String line : List.of("a: " + "x".repeat(140_000), "a: 1 #" + "x".repeat(900_000),
                "a: 1\r\nb: [" + "1,".repeat(400_000))) {
            assertThat(problems(line, Format.YAML)).extracting(PlanProblem::code).containsExactly("LINE_TOO_LONG");
        }
        assertThat(problems("a: " + "x".repeat(120_000), Format.YAML)).isEmpty();
        assertThat(problems("{\"a\": \"" + "x".repeat(900_000) + "\"}", Format.JSON)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1019, 1020, 1021, 1022, 1023, 1024, 1025, 2046, 2047, 2048})
    void aPairOfSurrogatesMayStandAnywhere(int before) {
        assertThat(problems("a: " + "x".repeat(before) + "\uD83D\uDE00".repeat(2_000), Format.YAML)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e2147483648", "1e-2147483648", "0e2147483648", "1e-2147483647", "1e99999999999999999999"})
    void aNumberWithAnEndlessExponentIsNamed(String number) {
        for (Format format : Format.values()) {
            assertThat(problems("{\"a\": [{\"b\": " + number + "}]}", format))
                    .extracting(PlanProblem::code, PlanProblem::pointer)
                    .containsExactly(org.assertj.core.api.Assertions.tuple("NUMBER_OUT_OF_RANGE", "/a/0/b"));
        }
    }

    @Test
    void tooManyBytesAreNotEvenLookedAt() {
        byte[] bytes = new byte[Documents.MAX_BYTES + 1];
        assertThat(Missions.problems(Documents.read(bytes, Format.JSON))).extracting(PlanProblem::code)
                .containsExactly("TOO_LARGE");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            a: yes          | {"a":"yes"}
            a: true         | {"a":true}
            a: ~            | {"a":null}
            a:              | {"a":null}
            a: 010          | {"a":10}
            a: 0x1F         | {"a":31}
            a: 1e3          | {"a":1000.0}
            a: 2026-01-01   | {"a":"2026-01-01"}
            a: "1"          | {"a":"1"}
            a: 1.10         | {"a":1.1}
            a: 123456789012345678901234567890 | {"a":123456789012345678901234567890}
            a: 0.1234567890123456789 | {"a":0.1234567890123456789}
            """)
    void plainYamlValuesAreThoseOfYamlsCoreSchema(String yaml, String json) {
        assertThat(tree(yaml)).hasToString(json);
    }

    @Test
    void aByteOrderMarkIsNoText() {
        assertThat(tree("\uFEFF{a: 1}")).hasToString("{\"a\":1}");
    }

    @Test
    void aKeyThatIsTooLongIsRefusedWithoutBeingRepeated() {
        assertThat(problems("{\"" + "k".repeat(100_000) + "\": 1}", Format.JSON)).first().satisfies(problem -> {
            assertThat(problem.code()).isEqualTo("TOO_LONG");
            assertThat(problem.pointer()).isEmpty();
            assertThat(problem.message()).hasSizeLessThan(300);
        });
    }

    /** Damaged documents give problems, never an exception. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void damagedDocumentsAreRefusedOrRead(long seed) {
        Random random = new Random(seed);
        byte[] good =
                ("name: m\nplan: {tasks: [{id: a, steps: [{tool: echo, input: {message: \"${ .inputs.x }\"}}]}]}\n"
                        + "tags: [\"a\\u00e4\", 'b']\ninputs: {x: {default: 5e3}, y: {default: [.5, ~]}}\n# end\n")
                        .getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 3_000; i++) {
            byte[] bytes = good.clone();
            for (int change = random.nextInt(6); change >= 0; change--) {
                bytes[random.nextInt(bytes.length)] = (byte) (random.nextBoolean()
                        ? random.nextInt(256)
                        : SIGNS.charAt(random.nextInt(SIGNS.length())));
            }
            Format format = random.nextBoolean() ? Format.JSON : Format.YAML;
            switch (Documents.read(bytes, format)) {
                case ReadResult.Ok<JsonNode>(JsonNode tree) ->
                    assertThat(Documents.read(tree.toString().getBytes(StandardCharsets.UTF_8), Format.JSON))
                            .isEqualTo(new ReadResult.Ok<>(tree));
                case ReadResult.Invalid<JsonNode> invalid -> assertThat(invalid.problems()).isNotEmpty();
            }
        }
    }

    private static JsonNode tree(String yaml) {
        ReadResult<JsonNode> result = Documents.read(yaml.getBytes(StandardCharsets.UTF_8), Format.YAML);
        assertThat(result).isInstanceOf(ReadResult.Ok.class);
        return ((ReadResult.Ok<JsonNode>) result).value();
    }

    private static List<PlanProblem> problems(String text, Format format) {
        return Missions.problems(Documents.read(text.getBytes(StandardCharsets.UTF_8), format));
    }
}
