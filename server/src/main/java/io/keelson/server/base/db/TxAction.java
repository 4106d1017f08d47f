package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;

/** Work on one connection that gives nothing back. It must not keep, commit or close the connection. */
@FunctionalInterface
public interface TxAction {

    void run(Connection connection) throws SQLException;
}
