package io.keelson.cli.common;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import io.keelson.server.app.Settings;
import io.keelson.server.base.log.LogContext;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class LoggingTest {

    private final LoggerContext context = new LoggerContext();

    private JsonNode entry(String message) {
        var event = new LoggingEvent("x", context.getLogger("io.keelson.Some"), Level.WARN, message, null,
                new Object[] {"a"});
        var encoder = Logging.encoder(context, Settings.LogFormat.JSON);
        String line = new String(encoder.encode(event), StandardCharsets.UTF_8);
        assertThat(line).endsWith("\n");
        assertThat(line.strip()).doesNotContain("\n");
        return JsonMapper.shared().readTree(line);
    }

    @Test
    void malformedRequestsOfStrangersFillNoLog() {
        new Logging().configure(context);

        assertThat(context.getLogger("org.eclipse.jetty.http.HttpParser").isWarnEnabled()).isFalse();
        assertThat(context.getLogger("org.eclipse.jetty.server").isWarnEnabled()).isTrue();
    }

    @Test
    void patternOfATenantIsNotLogged() {
        new Logging().configure(context);

        assertThat(context.getLogger(com.networknt.schema.keyword.PatternValidator.class).isErrorEnabled()).isFalse();
        assertThat(context.getLogger("com.networknt.schema").isErrorEnabled()).isTrue();
    }

    @Test
    void aJsonEntrySaysWhatItIsAbout() {
        context.setMDCAdapter(org.slf4j.MDC.getMDCAdapter());
        UUID run = UUID.randomUUID();
        JsonNode about;
        try (LogContext _ = LogContext.run(run).and(LogContext.NODE, "node:1").and(LogContext.STEP, null)) {
            about = entry("step {}\nbroke");
        }
        JsonNode after = entry("later");

        assertThat(about.get("mdc")).isEqualTo(JsonMapper.shared().createObjectNode().put("run_id", run.toString())
                .put("node_id", "node:1"));
        assertThat(about.get("level").stringValue()).isEqualTo("WARN");
        assertThat(about.get("loggerName").stringValue()).isEqualTo("io.keelson.Some");
        assertThat(about.get("formattedMessage").stringValue()).isEqualTo("step a\nbroke");
        assertThat(about.get("timestamp").isNumber()).isTrue();
        assertThat(after.get("mdc")).isEmpty();
    }
}
