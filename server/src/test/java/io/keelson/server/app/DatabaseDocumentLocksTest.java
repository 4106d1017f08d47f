package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.DocumentLocks.Lock;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DatabaseDocumentLocksTest {

    private final DatabaseUrl url = TestDatabase.createUrl();
    private final UUID run = UUID.randomUUID();

    @Test
    void lockExcludesThisServerAndOthersUntilItIsReleased() throws Exception {
        try (DatabaseDocumentLocks here = new DatabaseDocumentLocks(url);
                DatabaseDocumentLocks there = new DatabaseDocumentLocks(url)) {
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
        try (DatabaseDocumentLocks here = new DatabaseDocumentLocks(url);
                DatabaseDocumentLocks there = new DatabaseDocumentLocks(url)) {
            Lock held = here.take(run);
            try (Connection c = url.connect(); Statement statement = c.createStatement()) {
                statement.execute(
                        "select pg_terminate_backend(pid) from pg_locks l join pg_database d on d.oid = l.database"
                                + " where locktype = 'advisory' and datname = current_database() and pid <> pg_backend_pid()");
            }
            assertThatThrownBy(held::requireHeld).isInstanceOf(IOException.class);
            held.close();
            assertThat(there.take(run)).isNotNull();
        }
    }
}
