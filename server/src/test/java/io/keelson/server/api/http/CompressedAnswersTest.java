package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large documents are compressed for clients that accept it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CompressedAnswersTest {

    private static final String RUNS = "/api/v1/runs/";

    private ApiServer api;
    private String large;
    private String small;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        small = api.create(ApiServer.WAITS);
        large = api.create(ApiServer.WAITS.replaceFirst("\\{", "{\"description\": \"" + "x".repeat(8_192) + "\", "));
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "br, GZIP;q=0.5", "deflate,gzip ; q=1.0"})
    void aLargeDocumentIsTheSameCompressed(String accepted) {
        ApiServer.Answer plain = api.get(RUNS + large);
        ApiServer.Answer packed = api.get(RUNS + large, "Accept-Encoding", accepted);

        assertThat(packed.header("Content-Encoding")).isEqualTo("gzip");
        assertThat(packed.header("Content-Length")).isEqualTo(Integer.toString(packed.response().body().length));
        assertThat(packed.header("Vary")).isEqualTo("Accept-Encoding");
        assertThat(packed.response().body().length).isLessThan(2_000);
        assertThat(packed.text()).isEqualTo(plain.text());
        assertThat(plain.header("Vary")).isEqualTo("Accept-Encoding");
        assertThat(plain.header("Content-Encoding")).isEmpty();
    }

    @Test
    void clientReadsCompressedAnswers() {
        Keelson client = Keelson.builder().url(api.url().toString()).apiKey(api.key()).build();

        assertThat(client.runs().get(large).id()).isEqualTo(large);
    }

    @Test
    void tagOfACompressedAnswerIsWeakAndMatches() {
        String strong = api.get(RUNS + large).header("ETag");
        ApiServer.Answer packed = api.get(RUNS + large, "Accept-Encoding", "gzip");

        assertThat(packed.header("ETag")).isEqualTo("W/" + strong);
        assertThat(api.get(RUNS + large, "If-None-Match", packed.header("ETag")).status()).isEqualTo(304);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "identity", "br", "gzip;q=0", "gzip; q=0.000", "*"})
    void itIsSentAsItIsToClientsThatDoNotAcceptThat(String accepted) {
        assertThat(api.get(RUNS + large, "Accept-Encoding", accepted).header("Content-Encoding")).isEmpty();
    }

    @Test
    void smallDocumentIsSentUncompressed() {
        ApiServer.Answer answer = api.get(RUNS + small, "Accept-Encoding", "gzip");

        assertThat(answer.header("Content-Encoding")).isEmpty();
        assertThat(answer.header("Vary")).isEmpty();
        assertThat(answer.header("ETag")).startsWith("\"");
    }
}
