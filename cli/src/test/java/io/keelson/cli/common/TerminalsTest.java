package io.keelson.cli.common;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.view.Style;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TerminalsTest {

    @ParameterizedTest
    @CsvSource({"false, true, '', C.UTF-8, true, true", "true, true, '', C.UTF-8, false, true",
            "false, true, 1, en_US.utf8, false, true", "false, true, '', C, true, false",
            "false, true, '', '', true, false", "false, false, '', C, false, true"})
    void terminalCapabilities(boolean refused, boolean interactive, String noColor, String lang, boolean color,
            boolean unicode) {
        assertThat(Terminals.style(refused, interactive, Map.of("NO_COLOR", noColor, "LANG", lang)))
                .isEqualTo(new Style(color, unicode, 0));
    }
}
