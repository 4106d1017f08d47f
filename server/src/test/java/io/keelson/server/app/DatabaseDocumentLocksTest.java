package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.DocumentLocks.Lock;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DatabaseDocumentLocksTest {

    private final Database database = TestDatabase.create();
    private final UUID run = UUID.randomUUID();
    private final List<Connection> sessions = new ArrayList<>();

    @AfterEach
    void close() {
        database.close();
    }

    private DatabaseDocumentLocks locks() {
        return new DatabaseDocumentLocks(() -> {
            Connection session = database.dedicatedConnection();
            sessions.add(session);
            return session;
        });
    }

    @Test
    void lockExcludesThisServerAndOthersUntilItIsReleased() throws Exception {
        try (DatabaseDocumentLocks here = locks(); DatabaseDocumentLocks there = locks()) {
            Lock held = here.take(run);
            assertThat(held).isNotNull();
            held.requireHeld();
            assertThat(here.take(run)).isNull();
            assertThat(there.take(run)).isNull();
            assertThat(there.take(UUID.randomUUID())).isNotNull();
            held.close();
            assertThat(there.take(run)).isNotNull();
        }
    }

    @Test
    void lockIsLostWithItsSession() throws Exception {
        try (DatabaseDocumentLocks here = locks(); DatabaseDocumentLocks there = locks()) {
            Lock held = here.take(run);
            try (Connection c = database.url().connect(); Statement statement = c.createStatement()) {
                statement.execute(
                        "select pg_terminate_backend(pid) from pg_locks l join pg_database d on d.oid = l.database"
                                + " where locktype = 'advisory' and datname = current_database() and pid <> pg_backend_pid()");
            }
            assertThatThrownBy(held::requireHeld).isInstanceOf(IOException.class);
            held.close();
            assertThat(there.take(run)).isNotNull();
        }
    }

    /** The server closes the sockets of a database that does not respond, so that no thread waits for it. */
    @Test
    void sessionEndsWithTheOtherConnectionsToADatabaseThatDoesNotRespond() throws Exception {
        try (DatabaseDocumentLocks here = locks()) {
            Lock held = here.take(run);
            database.abandon(System.nanoTime());
            assertThatThrownBy(held::requireHeld).isInstanceOf(IOException.class);
            held.close();
            assertThat(here.take(UUID.randomUUID())).isNotNull();
            assertThat(sessions).hasSize(2);
        }
    }

    @Test
    void postgresEndsTheSessionOfALostMachine() throws Exception {
        try (DatabaseDocumentLocks here = locks()) {
            here.take(run);
            try (Statement statement = sessions.getFirst().createStatement(); ResultSet row = statement.executeQuery(
                    "select string_agg(setting, ' ' order by name desc) from pg_settings where name like 'tcp_keepalives%'")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("10 30 3");
            }
        }
    }
}
