package io.keelson.server.engine.store.retention;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class UploadSlotsTest {

    private static final UUID WORKSPACE = UUID.randomUUID();
    private static final Instant START = Instant.parse("2030-01-01T00:00:00Z");

    private final Database database = TestDatabase.create();
    private volatile Instant now = START;
    private final UploadSlots slots = new UploadSlots(() -> now);

    @Test
    void tenOfManyConcurrentUploadsGetASlot() throws Exception {
        try (ExecutorService many = Executors.newFixedThreadPool(8)) {
            List<Boolean> taken = many.invokeAll(
                    Stream.generate(() -> (Callable<Boolean>) () -> take(UUID.randomUUID())).limit(40)
                            .toList())
                    .stream().map(Future::resultNow).toList();
            assertThat(taken.stream().filter(got -> got)).hasSize(UploadSlots.MAX_UPLOADS);
        }
        boolean elsewhere = database.inTransaction(c -> slots.take(c, UUID.randomUUID(), UUID.randomUUID()));
        assertThat(elsewhere).isTrue();
    }

    @Test
    void silentUploaderLosesItsSlot() {
        List<UUID> holders = Stream.generate(UUID::randomUUID).limit(UploadSlots.MAX_UPLOADS).toList();
        assertThat(holders).allMatch(this::take);
        now = START.plus(UploadSlots.LEASE.minus(Duration.ofSeconds(1)));
        assertThat(keep(holders.getFirst())).isTrue();
        assertThat(take(UUID.randomUUID())).isFalse();

        now = START.plus(UploadSlots.LEASE);
        assertThat(Stream.generate(UUID::randomUUID).limit(UploadSlots.MAX_UPLOADS).filter(this::take)).hasSize(9);
        assertThat(keep(holders.getFirst())).isTrue();
        assertThat(keep(holders.getLast())).isFalse();
        database.runInTransaction(c -> slots.leave(c, WORKSPACE, holders.getFirst()));
        assertThat(take(UUID.randomUUID())).isTrue();
    }

    private boolean take(UUID holder) {
        return database.inTransaction(c -> slots.take(c, WORKSPACE, holder));
    }

    private boolean keep(UUID holder) {
        return database.withConnection(c -> slots.keep(c, WORKSPACE, holder));
    }
}
