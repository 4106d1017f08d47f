package io.keelson.server.base.db;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Drops the databases of a test class after its last test: all of them together would take 7 GB. JUnit finds this class
 * by {@code META-INF/services}.
 */
public final class DroppedDatabases implements Extension, BeforeAllCallback, AfterAllCallback {

    /** The databases of each top-level test class that runs. */
    private static final Map<Class<?>, Queue<String>> OF_CLASS = new ConcurrentHashMap<>();

    /** Notes a database for the test class on this thread's stack; without one it stays until the JVM ends. */
    static void add(String database) {
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                .walk(frames -> frames.map(frame -> OF_CLASS.get(frame.getDeclaringClass().getNestHost()))
                        .filter(databases -> databases != null).findFirst())
                .ifPresent(databases -> databases.add(database));
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        OF_CLASS.putIfAbsent(context.getRequiredTestClass().getNestHost(), new ConcurrentLinkedQueue<>());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (context.getRequiredTestClass().getEnclosingClass() == null) {
            OF_CLASS.remove(context.getRequiredTestClass())
                    .forEach(database -> TestDatabase.execute("drop database if exists " + database + " with (force)"));
        }
    }
}
