package io.keelson.server.annex.model.registry;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.TokenPrices;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.mission.plan.ReadResult;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelsFileTest {

    private static final String CANARY = "sk-canary-1234567890";
    private static final String GOOD = """
            models:
              small:
                wire: openai-responses
                base_url: "https://api.example.com/v1/"
                model: gpt-x-mini
                family: openai
                api_key: {env: SMALL_KEY}
                context_tokens: 400000
                max_output_tokens: 16000
                bytes_per_token: 1.5
                background: true
                prices: {input: 0.25, cache_read: 0.025, output: 2}
                fallback: [other]
                headers: {OpenAI-Organization: org-1, X-Route: {file: route.key}}
              other:
                wire: anthropic-messages
                base_url: http://127.0.0.1:7332
                model: claude-x
                family: anthropic
                context_tokens: 200000
                max_output_tokens: 8000
            """;

    @TempDir
    Path folder;

    private ReadResult<Models> read(String text) throws IOException {
        Files.writeString(folder.resolve("route.key"), "route-7\n");
        Files.writeString(folder.resolve("two-lines.key"), CANARY + "\nsecond");
        return ModelsFile.read(text.getBytes(StandardCharsets.UTF_8), "models.yaml",
                new KeySources(Map.of("SMALL_KEY", " " + CANARY + "\n", "ODD_KEY", "a\tb", "EMPTY_KEY", ""), folder,
                        failure -> "no such file"));
    }

    @Test
    void readsModelsWithTheirKeysAndDefaults() throws IOException {
        Models models = ((ReadResult.Ok<Models>) read(GOOD)).value();

        ConfiguredModel small = models.find("small").orElseThrow();
        assertThat(small.wire()).isEqualTo(WireKind.OPENAI_RESPONSES);
        assertThat(small.baseUrl()).isEqualTo(URI.create("https://api.example.com/v1"));
        assertThat(small.apiKey().get()).isEqualTo(CANARY);
        assertThat(small.headers()).isEqualTo(Map.of("OpenAI-Organization", "org-1", "X-Route", "route-7"));
        assertThat(small.contextTokens()).isEqualTo(400_000);
        assertThat(small.bytesPerToken()).isEqualByComparingTo("1.5");
        assertThat(small.fallback()).containsExactly("other");
        assertThat(small.background()).isTrue();
        assertThat(small.fallbackAfter()).isEqualTo(Duration.ofMinutes(1));
        ConfiguredModel other = models.find("other").orElseThrow();
        assertThat(other.apiKey().get()).isEmpty();
        assertThat(other.background()).isFalse();
        assertThat(other.bytesPerToken()).isEqualTo(BigDecimal.ONE);
        assertThat(other.prices()).isNull();
        assertThat(models.prices()).containsOnlyKeys("small");
        assertThat(models.prices().get("small").same(new TokenPrices(new BigDecimal("0.25"), new BigDecimal("0.025"),
                null, new BigDecimal("2")))).isTrue();
        assertThat(models.keyFiles()).containsExactly(folder.resolve("route.key"));
        assertThat(models.all()).extracting(ConfiguredModel::name).containsExactly("other", "small");
        assertThat(models.all().toString()).doesNotContain(CANARY, "route-7");
    }

    @ParameterizedTest(name = "{0} -> {1}: {2} {3}")
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "wire: openai-responses | wire: openai-response | INVALID_VALUE | /models/small/wire",
            "api.example.com/v1/ | user:pw@api.example.com | INVALID_VALUE | /models/small/base_url",
            "https://api.example.com/v1/ | ftp://api.example.com | INVALID_VALUE | /models/small/base_url",
            "{env: SMALL_KEY} | sk-canary-1234567890 | WRONG_TYPE | /models/small/api_key",
            "{env: SMALL_KEY} | {env: sk-canary-1234567890} | INVALID_VALUE | /models/small/api_key",
            "{env: SMALL_KEY} | {env: EMPTY_KEY} | INVALID_VALUE | /models/small/api_key",
            "{env: SMALL_KEY} | {env: ODD_KEY} | INVALID_VALUE | /models/small/api_key",
            "{env: SMALL_KEY} | {file: none.key} | INVALID_VALUE | /models/small/api_key",
            "{env: SMALL_KEY} | {file: two-lines.key} | INVALID_VALUE | /models/small/api_key",
            "{env: SMALL_KEY} | {env: SMALL_KEY, file: route.key} | TOO_MANY | /models/small/api_key",
            "max_output_tokens: 16000 | max_output_tokens: 500000 | OUT_OF_RANGE | /models/small/max_output_tokens",
            "context_tokens: 400000 | context_tokens: many | WRONG_TYPE | /models/small/context_tokens",
            "bytes_per_token: 1.5 | bytes_per_token: 0.5 | OUT_OF_RANGE | /models/small/bytes_per_token",
            "output: 2} | output: -2} | OUT_OF_RANGE | /models/small/prices/output",
            "{input: 0.25, | {input: 0.0000001, | OUT_OF_RANGE | /models/small/prices/input",
            "wire: openai-responses | wire: openai-chat | INVALID_VALUE | /models/small/background",
            "[other] | [third] | INVALID_VALUE | /models/small/fallback/0",
            "[other] | [small] | INVALID_VALUE | /models/small/fallback/0",
            "org-1 | `\"sk-canary-1234567890\\n\"` | INVALID_VALUE | /models/small/headers/OpenAI-Organization",
            "family: openai | families: openai | UNKNOWN_KEY | /models/small/families",
            "models: | modles: | UNKNOWN_KEY | /modles"})
    void refusesWithPointerAndWithoutTheKey(String good, String bad, String code, String pointer) throws IOException {
        assertThat(GOOD).contains(good);

        List<PlanProblem> problems = ((ReadResult.Invalid<Models>) read(GOOD.replace(good, bad))).problems();

        assertThat(problems).anySatisfy(problem -> {
            assertThat(problem.code()).isEqualTo(code);
            assertThat(problem.pointer()).isEqualTo(pointer);
        });
        assertThat(problems.toString().replace("fallback_after_seconds", "")).doesNotContain("canary", "second");
    }

    @Test
    void namesThatPricesCannotHaveAreRefused() throws IOException {
        List<PlanProblem> problems =
                ((ReadResult.Invalid<Models>) read(GOOD.replace("  small:", "  \"sm all\":"))).problems();

        assertThat(problems).hasSize(1);
        assertThat(problems.getFirst().message()).contains("sm all");
    }
}
