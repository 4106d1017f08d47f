package io.keelson.server.base.json;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SafeTextTest {

    @ParameterizedTest
    @CsvSource({"abc,abc", "'',''", "a\uD83D\uDE00b,a\uD83D\uDE00b", "a\uD83Db,a\uFFFDb", "\uDE00,\uFFFD",
            "a\uD83D,a\uFFFD", "x\0y\0z,x\uFFFDy\uFFFDz", "\uD83D\uD83D\uDE00,\uFFFD\uD83D\uDE00"})
    void replacesWhatJsonbRefuses(String text, String clean) {
        assertThat(SafeText.clean(text)).isEqualTo(clean);
    }

    @Test
    void cleansNamesAndValuesOfATree() {
        JsonNode tree = JsonMapper.shared().readTree("{\"a\\u0000\": [\"\\ud800\", 1, {\"b\": null}]}");
        assertThat(SafeText.clean(tree).toString()).isEqualTo("{\"a\uFFFD\":[\"\uFFFD\",1,{\"b\":null}]}");
    }

    /** Answers from outside fill the memory that was reserved for one tree of them. */
    @Test
    void aTreeWithNothingToCleanIsNotCopied() {
        JsonNode tree = Json.read("{\"a\": [\"b\", 1.5, {}, [], {\"c\": null}]}");
        assertThat(SafeText.clean(tree)).isSameAs(tree);
    }

    @Test
    void numbersOutOfRangeAreKeptAsText() {
        JsonNode tree = Json.read("[1e400000, -1e-400000, 1.5, 1e400]");
        assertThat(SafeText.clean(tree).toString()).isEqualTo("[\"1E+400000\",\"-1E-400000\",1.5,1E+400]");
    }

    @Test
    void aNumberThatStaysOneCanBeReadAgainHoweverItIsWritten() {
        String digits = "3".repeat(899);
        JsonNode tree = Json.read("[1e899, -1e-899, 0.%s, %s.5, 1e900, 1e-900, 0.%s3, %s.55]"
                .formatted(digits, digits, digits, digits));
        JsonNode clean = SafeText.clean(tree);

        assertThat(clean.valueStream().map(JsonNode::isNumber)).containsExactly(true, true, true, true, false, false,
                false, false);
        for (JsonNode each : clean) {
            if (each.isNumber()) {
                assertThat(Json.read(each.decimalValue().toPlainString()).decimalValue())
                        .isEqualByComparingTo(each.decimalValue());
            }
        }
    }
}
