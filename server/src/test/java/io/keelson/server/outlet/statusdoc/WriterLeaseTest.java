package io.keelson.server.outlet.statusdoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whose turn it is to write documents. */
class WriterLeaseTest {

    private final WriterLease slow = new WriterLease(new UUID(0, 1));
    private final WriterLease other = new WriterLease(new UUID(0, 2));
    private Database database;

    @BeforeEach
    void open() {
        database = TestDatabase.create();
    }

    @AfterEach
    void close() {
        database.close();
    }

    /** The last event written; -1 when another node has the lease. */
    private long taken(WriterLease writerLease) {
        return database.<Long>withConnection(c -> writerLease.take(c).orElse(-1));
    }

    private boolean advanced(WriterLease writerLease, long to) {
        return database.<Boolean>withConnection(c -> writerLease.advance(c, to));
    }

    @Test
    void progressIsKeptAfterALostLease() {
        database.runInTransaction(c -> slow.begin(c, 3));
        database.runInTransaction(c -> other.begin(c, 5));
        assertThat(taken(slow)).isEqualTo(3);
        assertThat(advanced(slow, 4)).isTrue();
        assertThat(taken(other)).isEqualTo(-1);
        database.runInTransaction(slow::leave);
        assertThat(taken(other)).isEqualTo(4);

        assertThat(advanced(slow, 9)).isFalse();
        assertThat(advanced(other, 7)).isTrue();

        assertThat(taken(other)).isEqualTo(9);
    }
}
