package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InitialCreditsTest {

    @TempDir
    private Path folder;

    private final DatabaseUrl url = TestDatabase.createUrl();

    @Test
    void aWorkspaceBeginsWithAThousandCreditsAndGetsThemOnce() throws Exception {
        assertThat(available(Map.of())).isEqualByComparingTo("1000");
        assertThat(available(Map.of())).isEqualByComparingTo("1000");
        assertThat(available(Map.of("KEELSON_INITIAL_CREDITS", "5000"))).isEqualByComparingTo("1000");
    }

    @Test
    void initialCreditsComeFromSettings() throws Exception {
        assertThat(available(Map.of("KEELSON_INITIAL_CREDITS", "0"))).isZero();
        assertThat(available(Map.of("KEELSON_INITIAL_CREDITS", "12.5"))).isEqualByComparingTo("12.5");
    }

    private BigDecimal available(Map<String, String> settings) throws Exception {
        Map<String, String> all = new HashMap<>(settings);
        all.putAll(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL",
                TestDatabase.text(url)));
        try (Server server = Server.start(Settings.load(all, folder, folder))) {
            return Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build().credits()
                    .balance().available();
        }
    }
}
