package io.keelson.client.worker;

import java.util.concurrent.ThreadFactory;

/** Creates daemon threads, which keep no JVM alive. */
final class Threads {

    private Threads() {}

    static Thread daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Virtual threads where the JVM has them (21 and later), else daemon threads. */
    static ThreadFactory handlers() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Object named = type.getMethod("name", String.class, long.class).invoke(builder, "keelson-step-", 0L);
            return (ThreadFactory) type.getMethod("factory").invoke(named);
        } catch (ReflectiveOperationException | UnsupportedOperationException e) {
            return body -> daemon("keelson-step", body);
        }
    }
}
