package io.keelson.server.annex.model.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.Settings;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The models' file among the settings. */
class ConfiguredModelsTest {

    @TempDir
    Path folder;

    private ModelSettings settings() throws InvalidSettingsException {
        return Settings.load(Map.of("KEELSON_MODELS", "models.yaml", "A_KEY", "sk-canary"), folder, folder).models();
    }

    @Test
    void withoutTheSettingThereAreNoModels() throws Exception {
        assertThat(ModelConfiguration.read(Settings.load(Map.of("A_KEY", "sk-canary"), folder, folder).models()).all())
                .isEmpty();
    }

    @Test
    void fileIsRelativeToTheWorkingFolderAndItsKeysToTheFile() throws Exception {
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  a: {wire: openai-chat, base_url: "http://127.0.0.1:1", model: m, family: f, context_tokens: 9,
                      max_output_tokens: 9, api_key: {env: A_KEY}, headers: {X-A: {file: a.key}}}
                """);
        Files.writeString(folder.resolve("a.key"), "of a file");

        assertThat(ModelConfiguration.read(settings()).find("a").orElseThrow()).satisfies(model -> {
            assertThat(model.apiKey().get()).isEqualTo("sk-canary");
            assertThat(model.headers()).containsEntry("X-A", "of a file");
        });
        assertThat(settings().toString()).contains("models.yaml").doesNotContain("canary");
    }

    @ParameterizedTest
    @ValueSource(strings = {"models: [", "models: {a: {wire: none, api_key: {env: B_KEY}}}", ""})
    void unusableFileEndsTheStartInOneLine(String content) throws IOException {
        if (!content.isEmpty()) {
            Files.writeString(folder.resolve("models.yaml"), content);
        }

        StartupException refused =
                catchThrowableOfType(StartupException.class, () -> ModelConfiguration.read(settings()));

        assertThat(refused.code()).isEqualTo("MODELS_FILE_INVALID");
        assertThat(refused).hasMessageContaining(folder.resolve("models.yaml").toString());
        assertThat(refused.getMessage().lines()).hasSize(1);
    }
}
