package io.keelson.cli.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.cli.view.RunModel;
import io.keelson.cli.view.Style;
import io.keelson.client.Json;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.DumbTerminal;
import org.junit.jupiter.api.Test;

class LiveDisplayTest {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    @Test
    void aResizeLeavesNoStaleLines() throws Exception {
        StringWriter text = new StringWriter();
        Terminal terminal = new DumbTerminal("test", "dumb", InputStream.nullInputStream(),
                new ByteArrayOutputStream(), StandardCharsets.UTF_8);
        terminal.setSize(new Size(80, 24));
        LiveDisplay display = new LiveDisplay(terminal, new PrintWriter(text), Style.PLAIN);
        display.show(model(), NOW);
        display.show(model(), NOW);
        assertThat(text.toString()).doesNotContain("\u001b[H");

        terminal.setSize(new Size(40, 10));
        text.getBuffer().setLength(0);
        display.unanswered(Duration.ofSeconds(2));
        assertThat(text.toString()).contains("\u001b[H").endsWith("\u001b[J");
        text.getBuffer().setLength(0);
        display.slow(Duration.ofSeconds(3));
        assertThat(text.toString()).contains("answers slowly (3s)").doesNotContain("not reachable");
        text.getBuffer().setLength(0);
        display.show(model(), NOW);
        assertThat(text.toString()).doesNotContain("\u001b[H");
    }

    private static RunModel model() {
        return new RunModel(Json.to(Json.of(Map.of("id", "r", "name", "report", "state", "running",
                "stateType", "running", "createdAt", NOW, "startedAt", NOW)), Run.class));
    }

    @Test
    void continuesAndRestoresTheCursorAfterTheTerminalCloses() throws Exception {
        StringWriter text = new StringWriter();
        Terminal terminal = new DumbTerminal("test", "dumb", InputStream.nullInputStream(),
                new ByteArrayOutputStream(), StandardCharsets.UTF_8);
        LiveDisplay display = new LiveDisplay(terminal, new PrintWriter(text), Style.PLAIN);
        RunModel model = model();
        display.show(model, NOW);
        terminal.close();
        display.show(model, NOW);
        display.end();
        display.show(model, NOW);
        assertThat(text.toString()).contains("report").endsWith("\u001b[?25h");
    }
}
