package io.keelson.cli.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class BrowserTest {

    private static final String URL = "http://127.0.0.1:7331/ui/#code=x";

    @Test
    void pageOpensWhereThereIsAScreen() {
        assertThat(Browser.command(URL, "linux", Map.of("DISPLAY", ":0"))).containsExactly("xdg-open", URL);
        assertThat(Browser.command(URL, "linux", Map.of("WAYLAND_DISPLAY", "w"))).containsExactly("xdg-open", URL);
        assertThat(Browser.command(URL, "mac os x", Map.of())).containsExactly("open", URL);
        assertThat(Browser.command(URL, "windows 11", Map.of())).startsWith("rundll32").endsWith(URL);
    }

    @Test
    void nothingOpensWithoutAScreen() {
        assertThat(Browser.command(URL, "linux", Map.of())).isEmpty();
        assertThat(Browser.command(URL, "linux", Map.of("DISPLAY", ":0", "SSH_CONNECTION", "a"))).isEmpty();
    }
}
