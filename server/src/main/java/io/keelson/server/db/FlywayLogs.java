package io.keelson.server.db;

import org.flywaydb.core.api.logging.Log;
import org.flywaydb.core.api.logging.LogCreator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Flyway's chatter at debug level; its warnings and errors as they are. Flyway makes it by its class name. */
public final class FlywayLogs implements LogCreator {

    @Override
    public Log createLogger(Class<?> owner) {
        return new Quiet(LoggerFactory.getLogger(owner));
    }

    private record Quiet(Logger log) implements Log {

        @Override
        public void debug(String message) {
            log.trace(message);
        }

        @Override
        public void info(String message) {
            log.debug(message);
        }

        @Override
        public void notice(String message) {
            log.debug(message);
        }

        @Override
        public void warn(String message) {
            log.warn(message);
        }

        @Override
        public void error(String message) {
            log.error(message);
        }

        @Override
        public void error(String message, Exception cause) {
            log.error(message, cause);
        }
    }
}
