package io.keelson.server.engine.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;

/** A real connection that counts the statements prepared on it. */
final class CountingConnection {
    private final Connection connection;
    private long statements;

    CountingConnection(Connection real) {
        this.connection = (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")) {
                        statements++;
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    Connection connection() {
        return connection;
    }

    long statements() {
        return statements;
    }
}
