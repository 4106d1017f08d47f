package io.keelson.server.tenant.money;

import io.keelson.core.run.Actor;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** A database of one's own with workspaces in it, and short words for its money. */
final class Books implements AutoCloseable {

    static final Actor WHO = Actor.human("a key");

    final Database database = TestDatabase.create();
    final Money money = new Money(database, DbClock.DATABASE);

    UUID workspace() {
        UUID id = UUID.randomUUID();
        execute("insert into workspaces (id, name) values ('" + id + "', 'test')");
        return id;
    }

    Booking grant(UUID workspace, String amount, String key) {
        return money.ledger().grant(workspace, new BigDecimal(amount), null, key, WHO);
    }

    void execute(String sql) {
        database.runInTransaction(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }

    List<String> query(String sql) {
        return database.withConnection(c -> {
            List<String> found = new ArrayList<>();
            try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                while (row.next()) {
                    found.add(row.getString(1));
                }
            }
            return found;
        });
    }

    @Override
    public void close() {
        database.close();
    }
}
