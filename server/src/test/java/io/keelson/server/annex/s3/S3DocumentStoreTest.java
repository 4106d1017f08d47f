package io.keelson.server.annex.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.server.base.artifact.DocumentLocks;
import io.keelson.server.base.artifact.DocumentStore;
import io.keelson.server.base.artifact.DocumentStore.Mark;
import io.keelson.server.base.artifact.DocumentStore.Writing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Documents as objects: their writer, and the rest of a crash. */
@Breadth.InPart(1)
class S3DocumentStoreTest {

    private final UUID run = UUID.randomUUID();
    private final AtomicBoolean taken = new AtomicBoolean();
    private boolean lost;
    private S3Settings settings;
    private S3Clients clients;
    private S3ArtifactStore store;
    private DocumentStore documents;

    @BeforeEach
    void open() throws Exception {
        settings = ObjectStoreProcess.shared().settings();
        clients = S3Clients.of(settings);
        store = S3ArtifactStore.open(settings, 100, Duration.ZERO, ObjectStoreProcess.DATABASE);
        documents = store.documents(any -> taken.getAndSet(true) ? null : new DocumentLocks.Lock() {
            @Override
            public void requireHeld() throws IOException {
                if (lost) {
                    throw new IOException("lost");
                }
            }

            @Override
            public void close() {
                taken.set(false);
            }
        });
    }

    @AfterEach
    void close() {
        store.close();
        clients.close();
    }

    @Test
    void documentsHaveOneWriterWhichContinuesTheOneBefore() throws IOException {
        try (Writing first = writing()) {
            assertThat(first.mark()).isEqualTo(new Mark(1, 0, 0, false));
            assertThat(documents.open(run)).isNull();
            first.put("steps/1.json", bytes("one"));
            first.put("status.json", bytes("failed"));
            first.mark(new Mark(1, 7, 1, true));
        }
        try (Writing next = writing()) {
            assertThat(next.mark()).isEqualTo(new Mark(1, 7, 1, true));
            next.shelve(1);
            next.shelve(1);
            next.put("status.json", bytes("running"));
            assertThatThrownBy(() -> next.put("../x.json", bytes("x"))).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(text("attempts/1/steps/1.json")).isEqualTo("one");
        assertThat(text("attempts/1/status.json")).isEqualTo("failed");
        assertThat(text("status.json")).isEqualTo("running");
    }

    @Test
    void writerWithoutItsLockChangesNothing() throws IOException {
        try (Writing writing = writing()) {
            writing.put("status.json", bytes("a"));
            lost = true;
            assertThatThrownBy(() -> writing.put("status.json", bytes("b"))).hasMessage("lost");
            assertThatThrownBy(() -> writing.shelve(1)).hasMessage("lost");
            assertThatThrownBy(writing::remove).hasMessage("lost");
        }
        assertThat(text("status.json")).isEqualTo("a");
    }

    @Test
    void deletedRunLeavesNothing() throws IOException {
        try (Writing writing = writing()) {
            writing.put("steps/1.json", bytes("one"));
            writing.put("status.json", bytes("a"));
            writing.mark(new Mark(1, 1, 1, false));
            writing.shelve(1);
        }
        assertThat(runs()).containsExactly(run);
        try (Writing writing = writing()) {
            writing.remove();
        }
        assertThat(runs()).isEmpty();
    }

    private List<UUID> runs() throws IOException {
        List<UUID> found = new ArrayList<>();
        documents.runs(found::addAll);
        return found;
    }

    private Writing writing() throws IOException {
        return Objects.requireNonNull(documents.open(run));
    }

    private String text(String name) {
        return clients.requests().getObjectAsBytes(request -> request.bucket(settings.location().bucket())
                .key(settings.location().prefix() + "runs/run_" + run + "/" + name)).asUtf8String();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
