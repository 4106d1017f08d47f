package io.keelson.cli.common;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.FileAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import io.keelson.server.app.Settings;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;

/** Configures logging. By default, warnings go to standard error. */
public final class Logging extends ContextAwareBase implements Configurator {

    private static final String PATTERN = "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX, UTC} %-5level %logger{0} - %msg%n";

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        set(context, new ConsoleAppender<>(), Settings.LogFormat.TEXT, Level.WARN);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** To standard error, as the settings say. */
    public static void toStandardError(Settings settings) {
        set(context(), new ConsoleAppender<>(), settings.log().format(), Level.valueOf(settings.log().level().name()));
    }

    /** Away from the terminal, to a file that starts empty. */
    public static void toFile(Settings settings, Path file) {
        FileAppender<ILoggingEvent> appender = new FileAppender<>();
        appender.setFile(file.toString());
        appender.setAppend(false);
        set(context(), appender, settings.log().format(), Level.valueOf(settings.log().level().name()));
    }

    private static LoggerContext context() {
        return (LoggerContext) LoggerFactory.getILoggerFactory();
    }

    private static void set(LoggerContext context, OutputStreamAppender<ILoggingEvent> appender,
            Settings.LogFormat format, Level level) {
        if (appender instanceof ConsoleAppender<ILoggingEvent> console) {
            console.setTarget("System.err");
        }
        context.reset();
        appender.setContext(context);
        appender.setEncoder(encoder(context, format));
        appender.start();
        var root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(level);
        OutageAppender calm = new OutageAppender(appender);
        calm.setContext(context);
        calm.start();
        root.addAppender(calm);
        // libraries log their own start and stop, which users of Keelson do not need
        for (String library : new String[] {"org.eclipse.jetty", "io.javalin", "com.zaxxer.hikari", "org.flywaydb",
                "com.networknt"}) {
            context.getLogger(library).setLevel(Level.WARN);
        }
        // a malformed request is answered 400 and needs no key: a line for each would be a stranger's to write
        context.getLogger("org.eclipse.jetty.http.HttpParser").setLevel(Level.ERROR);
        // it logs a tenant's whole pattern when the search in it is stopped, which the response says
        context.getLogger("com.networknt.schema.keyword.PatternValidator").setLevel(Level.OFF);
        // the caller reports a failed start
        context.getLogger("io.javalin.Javalin").setLevel(Level.OFF);
    }

    static Encoder<ILoggingEvent> encoder(LoggerContext context, Settings.LogFormat format) {
        if (format == Settings.LogFormat.JSON) {
            JsonEncoder json = new JsonEncoder();
            json.setContext(context);
            json.setWithContext(false);
            json.setWithSequenceNumber(false);
            json.setWithFormattedMessage(true);
            json.setWithMessage(false);
            json.setWithArguments(false);
            json.start();
            return json;
        }
        PatternLayoutEncoder text = new PatternLayoutEncoder();
        text.setContext(context);
        text.setPattern(PATTERN);
        text.start();
        return text;
    }
}
