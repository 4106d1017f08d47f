package io.keelson.server.tenant.secret;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** Redaction of texts, documents and streams. */
class RedactionTest {

    private static final String VALUE = "pa$$ w\"ord/ü";

    private final Redaction redaction = Redaction.of(List.of(VALUE, "98765"));

    @Test
    void secretIsRedactedInAllItsForms() {
        String base64 = Base64.getEncoder().encodeToString(VALUE.getBytes(StandardCharsets.UTF_8));

        assertThat(redaction
                .text("a " + VALUE + " b " + base64 + " c pa%24%24+w%22ord%2F%C3%BC d pa%24%24%20w%22ord%2F%C3%BC"))
                .isEqualTo("a [secret] b [secret] c [secret] d [secret]");
        assertThat(redaction.text("pa$$ w")).isEqualTo("pa$$ w");
    }

    @Test
    void secretIsRedactedInOtherEncodings() {
        Redaction redaction = Redaction.of(List.of("k\"y\\<t'ail>\n\u00dc9"));
        Map.of("JSON", "k\\\"y\\\\<t'ail>\\n\u00dc9",
                "JSON in ASCII", "k\\\"y\\\\<t'ail>\\n\\u00dc9",
                "HTML", "k&quot;y\\&lt;t&#39;ail&gt;\n\u00dc9",
                "CSV", "k\"\"y\\<t'ail>\n\u00dc9",
                "shell", "k\"y\\<t'\\''ail>\n\u00dc9",
                "in lower case", "k\"y\\<t'ail>\n\u00fc9")
                .forEach((writer, form) -> assertThat(redaction.text("a " + form + " b")).as(writer)
                        .isEqualTo("a [secret] b"));
        assertThat(Redaction.of(List.of("Test")).text("a test of Test")).isEqualTo("a test of [secret]");
    }

    /** All that is the secret's alone, at each of the three places it can have in a group of Base64. */
    @Test
    void secretIsRedactedInsideBase64() {
        String value = "ab?>cdefgh\u00fe\u00ff";
        Redaction redaction = Redaction.of(List.of(value));
        for (Base64.Encoder encoder : List.of(Base64.getEncoder(), Base64.getUrlEncoder().withoutPadding())) {
            for (String before : List.of("", "u", "u:", "me:", "user:")) {
                for (String after : List.of("", "1", "22", "333")) {
                    String text = encoder.encodeToString((before + value + after).getBytes(StandardCharsets.UTF_8));
                    String left = redaction.text(text);
                    assertThat(left).as(before + "…" + after).contains("[secret]")
                            .hasSizeLessThanOrEqualTo("[secret]".length() + (before.length() + after.length()) * 2 + 4);
                }
            }
        }
        assertThat(Redaction.of(List.of("abcd")).text("x:abcd in YWJjZA==, and NhYmNk is none"))
                .isEqualTo("x:[secret] in [secret], and NhYmNk is none");
    }

    /** What is at hand is given before more is waited for. */
    @Test
    void aStreamDoesNotWaitForWhatItDoesNotNeed() throws IOException {
        byte[] said = ("x".repeat(100) + VALUE).getBytes(StandardCharsets.UTF_8);
        InputStream stuck = new ByteArrayInputStream(said) {
            @Override
            public synchronized int read(byte[] into, int from, int length) {
                if (available() == 0) {
                    throw new IllegalStateException("waited");
                }
                return super.read(into, from, length);
            }
        };

        assertThat(Redaction.of(List.of("sec-ret")).stream(stuck).read(new byte[1_000])).isGreaterThan(90);
    }

    @Test
    void documentIsRedactedInNamesTextsAndNumbers() {
        var document = JsonMapper.shared().createObjectNode().put(VALUE, 1).put("n", 98765).put("m", 987651);
        document.putArray("list").add("x" + VALUE).addObject().put("deep", VALUE);

        assertThat(redaction.json(document)).hasToString(
                "{\"[secret]\":1,\"n\":\"[secret]\",\"m\":987651,\"list\":[\"x[secret]\",{\"deep\":\"[secret]\"}]}");
    }

    @Test
    void emptyRedactionChangesNothing() {
        assertThat(Redaction.NONE.text(VALUE)).isEqualTo(VALUE);
        assertThat(Redaction.NONE.none()).isTrue();
        assertThat(redaction.none()).isFalse();
    }

    @Test
    void longerOfTwoSecretsIsRedactedWhole() {
        assertThat(Redaction.of(List.of("abcd", "abcdefgh")).text("abcdefgh abcd")).isEqualTo("[secret] [secret]");
    }

    /** Streams that come in pieces of any size, with secrets across their borders. */
    @Test
    void streamIsRedactedLikeText() throws IOException {
        Random random = new Random(42);
        for (int round = 0; round < 300; round++) {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(40); i >= 0; i--) {
                text.append(random.nextBoolean() ? VALUE : "pa$$ w".repeat(random.nextInt(3)));
                text.append("x".repeat(random.nextInt(round < 5 ? 40_000 : 30)));
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);

            try (InputStream redacted = redaction.stream(new Trickle(bytes, random))) {
                assertThat(new String(redacted.readAllBytes(), StandardCharsets.UTF_8)).as("round %s", round)
                        .isEqualTo(redaction.text(text.toString()));
            }
        }
    }

    /** Gives a few bytes at a time. */
    private static final class Trickle extends ByteArrayInputStream {

        private final Random random;

        private Trickle(byte[] bytes, Random random) {
            super(bytes);
            this.random = random;
        }

        @Override
        public synchronized int read(byte[] into, int from, int length) {
            return super.read(into, from, Math.min(length, 1 + random.nextInt(5_000)));
        }
    }
}
