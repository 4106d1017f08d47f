package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Work on one connection. It must not keep, commit or close the connection. */
@FunctionalInterface
public interface TxFunction<T extends @Nullable Object> {

    T apply(Connection connection) throws SQLException;
}
