package io.keelson.server.app;

import io.keelson.GeneratedDocs;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class SettingsDocTest {

    @Test
    void theDocumentListsEverySettingAndItsDefault() {
        String rows = Arrays.stream(Setting.values())
                .map(setting -> "| `" + setting.name() + "` | "
                        + (setting.defaultText().isEmpty() ? "" : "`" + setting.defaultText() + "`") + " | "
                        + setting.meaning() + " |\n")
                .collect(Collectors.joining());
        GeneratedDocs.check("docs/reference/configuration.md", "settings",
                "| name | default | meaning |\n|---|---|---|\n" + rows);
    }
}
