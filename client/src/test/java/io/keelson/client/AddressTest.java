package io.keelson.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AddressTest {

    private static final Address OWN = new Address("http://127.0.0.1:7070", "own-key");

    @TempDir
    Path home;

    @BeforeEach
    void write() throws IOException {
        Path data = Files.createDirectory(home.resolve(".keelson"));
        Files.writeString(data.resolve("url"), OWN.url() + "\n");
        Files.writeString(data.resolve("api-key"), OWN.apiKey() + "\n");
    }

    @Test
    void readsTheDataDirectory() {
        assertThat(find(Map.of())).isEqualTo(OWN);
        assertThat(Address.find(Map.of("KEELSON_DATA_DIR", home.resolve(".keelson").toString()), "/nowhere"))
                .isEqualTo(OWN);
    }

    @Test
    void theEnvironmentGoesFirst() {
        assertThat(find(Map.of("KEELSON_URL", "https://k.example", "KEELSON_API_KEY", "k")))
                .isEqualTo(new Address("https://k.example", "k"));
        assertThat(find(Map.of("KEELSON_API_KEY", "k"))).isEqualTo(new Address(OWN.url(), "k"));
    }

    @Test
    void theOwnKeyIsGivenToThisMachineOnly() {
        assertThat(find(Map.of("KEELSON_URL", "http://localhost:1"))).isEqualTo(
                new Address("http://localhost:1", "own-key"));
        assertThat(find(Map.of("KEELSON_URL", "http://192.0.2.1:7070"))).isEqualTo(
                new Address("http://192.0.2.1:7070", null));
    }

    @Test
    void saysWhereItLooked() {
        assertThatThrownBy(() -> Address.find(Map.of(), home.resolve("empty").toString()))
                .isInstanceOf(KeelsonException.class)
                .hasMessageContaining("KEELSON_URL")
                .hasMessageContaining(home.resolve("empty").toString());
    }

    private Address find(Map<String, String> environment) {
        return Address.find(environment, home.toString());
    }
}
