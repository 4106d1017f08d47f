package io.keelson.server;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggerContextListener;
import ch.qos.logback.core.FileAppender;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;

/**
 * Writes all log entries to a file while open, the server's own entries of every level included. It survives a new
 * configuration of logging.
 */
public final class ServerLog implements AutoCloseable, LoggerContextListener {
    private static final String OWN = "io.keelson.server";

    private final LoggerContext context;
    private final Path file;
    private FileAppender<ILoggingEvent> appender;

    private ServerLog(LoggerContext context, Path file) {
        this.context = context;
        this.file = file;
        this.appender = attach(context);
        context.addListener(this);
    }

    public static ServerLog into(Path file) {
        return new ServerLog((LoggerContext) LoggerFactory.getILoggerFactory(), file);
    }

    private FileAppender<ILoggingEvent> attach(LoggerContext to) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(to);
        encoder.setPattern("%level %logger - %msg%n%ex");
        encoder.start();
        FileAppender<ILoggingEvent> made = new FileAppender<>();
        made.setContext(to);
        made.setEncoder(encoder);
        made.setFile(file.toString());
        made.start();
        to.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(made);
        to.getLogger(OWN).setLevel(Level.ALL);
        return made;
    }

    @Override
    public void close() {
        context.removeListener(this);
        context.getLogger(OWN).setLevel(null);
        context.getLogger(Logger.ROOT_LOGGER_NAME).detachAppender(appender);
        appender.stop();
    }

    @Override
    public boolean isResetResistant() {
        return true;
    }

    @Override
    public void onReset(LoggerContext to) {
        appender = attach(to);
    }

    @Override
    public void onStart(LoggerContext started) {
        // it has been for long
    }

    @Override
    public void onStop(LoggerContext stopped) {
        // with the process
    }

    @Override
    public void onLevelChange(Logger logger, Level level) {
        // this one's stays
    }
}
