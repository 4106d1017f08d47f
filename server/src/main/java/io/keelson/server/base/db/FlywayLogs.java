package io.keelson.server.base.db;

import java.util.regex.Pattern;
import org.flywaydb.core.api.logging.Log;
import org.flywaydb.core.api.logging.LogCreator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flyway's chatter at debug level; its warnings and errors as they are. Flyway makes it by its class name. It warns of each
 * table, column and other object that {@code if not exists} finds, as it does in a database with tables of others.
 */
public final class FlywayLogs implements LogCreator {

    private static final Pattern EXISTS = Pattern.compile("^DB: .*\\(SQL State: (42P07|42701|42710) ", Pattern.DOTALL);

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
            if (EXISTS.matcher(message).find()) {
                log.debug(message);
            } else {
                log.warn(message);
            }
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
