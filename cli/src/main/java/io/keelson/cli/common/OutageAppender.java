package io.keelson.cli.common;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Passes log entries on. While the database is unavailable, the many entries that say so become one line a minute for each
 * place and cause, without a stack trace.
 */
final class OutageAppender extends AppenderBase<ILoggingEvent> {

    private static final long PAUSE_MILLIS = Duration.ofMinutes(1).toMillis();
    private static final int MAX_CONDITIONS = 1_000;
    private static final String POOL = "com.zaxxer.hikari";

    private final Appender<ILoggingEvent> delegate;
    private final Map<String, Reported> conditions = new HashMap<>();

    private static final class Reported {
        private long at;
        private long leftOut;

        private Reported(long at) {
            this.at = at;
        }
    }

    OutageAppender(Appender<ILoggingEvent> delegate) {
        this.delegate = delegate;
    }

    @Override
    protected void append(ILoggingEvent event) {
        SQLException cause = outage(event.getThrowableProxy());
        if (cause == null && !event.getLoggerName().startsWith(POOL)) {
            delegate.doAppend(event);
            return;
        }
        String condition = event.getLoggerName() + ' ' + event.getMessage() + ' '
                + (cause == null ? "" : cause.getSQLState());
        Reported last = conditions.get(condition);
        if (last != null && event.getTimeStamp() - last.at < PAUSE_MILLIS) {
            last.leftOut++;
            return;
        }
        delegate.doAppend(line(event, cause, last == null ? 0 : last.leftOut));
        if (conditions.size() >= MAX_CONDITIONS) {
            conditions.clear();
        }
        conditions.put(condition, new Reported(event.getTimeStamp()));
    }

    private static ILoggingEvent line(ILoggingEvent event, @Nullable SQLException cause, long leftOut) {
        LoggingEvent line = new LoggingEvent();
        line.setLoggerName(event.getLoggerName());
        line.setLevel(event.getLevel());
        line.setThreadName(event.getThreadName());
        line.setInstant(event.getInstant());
        line.setMDCPropertyMap(event.getMDCPropertyMap());
        line.setMessage(event.getFormattedMessage() + (cause == null ? "" : ": " + firstLine(cause))
                + (leftOut == 0 ? "" : " (" + leftOut + " more of these since the last one)"));
        return line;
    }

    private static String firstLine(SQLException cause) {
        return String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
    }

    /** The failure of the database in the chain that is not one of the statement; null where there is none. */
    private static @Nullable SQLException outage(@Nullable IThrowableProxy proxy) {
        Throwable each = proxy instanceof ThrowableProxy own ? own.getThrowable() : null;
        for (; each != null; each = each.getCause()) {
            if (each instanceof SQLException sql && unavailable(sql)) {
                return sql;
            }
        }
        return null;
    }

    private static boolean unavailable(SQLException failure) {
        String state = failure.getSQLState() == null ? "" : failure.getSQLState();
        return failure instanceof SQLTransientConnectionException || state.startsWith("08") || state.startsWith("53")
                || state.startsWith("57") || state.equals("25006");
    }

    @Override
    public void stop() {
        super.stop();
        delegate.stop();
    }
}
