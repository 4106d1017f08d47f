package io.keelson.server.base.db;

import io.keelson.server.ServerProxy;
import java.io.IOException;
import java.net.URI;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A new database behind a proxy, which can be away for everybody but this class. */
public final class DetachableDatabase implements AutoCloseable {

    private final DatabaseUrl target = TestDatabase.createUrl();
    private final ServerProxy proxy;
    private volatile boolean away;

    public DetachableDatabase() throws IOException {
        proxy = new ServerProxy(() -> {
            if (away) {
                throw new IOException("the database is away");
            }
            return URI.create("tcp://" + target.hosts());
        });
    }

    public DatabaseUrl url() {
        return new DatabaseUrl(proxy.url().getAuthority(), target.database(), target.user(), target.password(), "");
    }

    /** Cuts all connections, and refuses new ones. */
    public void detach() throws IOException {
        away = true;
        proxy.cut();
    }

    public void attach() {
        away = false;
    }

    /** Executes a statement on the database itself. */
    public void execute(String sql) throws SQLException {
        try (var connection = target.connect(); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first column of the first row, read on the database itself; empty without a row. */
    public String read(String sql) throws SQLException {
        try (var connection = target.connect(); Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : "";
        }
    }

    @Override
    public void close() throws IOException {
        proxy.close();
    }
}
