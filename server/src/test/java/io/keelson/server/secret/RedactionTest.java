package io.keelson.server.secret;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** What is struck out of texts, documents and streams. */
class RedactionTest {

    private static final String VALUE = "pa$$ w\"ord/ü";

    private final Redaction redaction = Redaction.of(List.of(VALUE, "98765"));

    @Test
    void aSecretIsStruckInAllItsForms() {
        String base64 = Base64.getEncoder().encodeToString(VALUE.getBytes(StandardCharsets.UTF_8));

        assertThat(redaction
                .text("a " + VALUE + " b " + base64 + " c pa%24%24+w%22ord%2F%C3%BC d pa%24%24%20w%22ord%2F%C3%BC"))
                .isEqualTo("a [secret] b [secret] c [secret] d [secret]");
        assertThat(redaction.text("pa$$ w")).isEqualTo("pa$$ w");
    }

    @Test
    void aDocumentIsStruckInNamesTextsAndNumbers() {
        var document = JsonMapper.shared().createObjectNode().put(VALUE, 1).put("n", 98765).put("m", 987651);
        document.putArray("list").add("x" + VALUE).addObject().put("deep", VALUE);

        assertThat(redaction.json(document)).hasToString(
                "{\"[secret]\":1,\"n\":\"[secret]\",\"m\":987651,\"list\":[\"x[secret]\",{\"deep\":\"[secret]\"}]}");
    }

    @Test
    void nothingIsStruckOfNothing() {
        assertThat(Redaction.NONE.text(VALUE)).isEqualTo(VALUE);
        assertThat(Redaction.NONE.none()).isTrue();
        assertThat(redaction.none()).isFalse();
    }

    @Test
    void theLongerOfTwoIsStruckWhole() {
        assertThat(Redaction.of(List.of("abcd", "abcdefgh")).text("abcdefgh abcd")).isEqualTo("[secret] [secret]");
    }

    /** Streams that come in pieces of any size, with secrets across their borders. */
    @Test
    void aStreamIsStruckAsATextIs() throws IOException {
        Random random = new Random(42);
        for (int round = 0; round < 300; round++) {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(40); i >= 0; i--) {
                text.append(random.nextBoolean() ? VALUE : "pa$$ w".repeat(random.nextInt(3)));
                text.append("x".repeat(random.nextInt(round < 5 ? 40_000 : 30)));
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);

            try (InputStream struck = redaction.stream(new Trickle(bytes, random))) {
                assertThat(new String(struck.readAllBytes(), StandardCharsets.UTF_8)).as("round %s", round)
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
