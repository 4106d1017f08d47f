package io.keelson.server.base.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.DocumentStore.Mark;
import io.keelson.server.base.artifact.DocumentStore.Writing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents as files: who may write them, and what a crash leaves. */
class LocalDocumentStoreTest {

    private final UUID run = UUID.randomUUID();

    @TempDir
    private Path root;
    private LocalDocumentStore store;

    @BeforeEach
    void open() throws IOException {
        store = new LocalDocumentStore(root);
    }

    private Writing writing() throws IOException {
        return Objects.requireNonNull(store.open(run));
    }

    private Path file(String name) {
        return root.resolve("run_" + run).resolve(name);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void oneNodeWritesAtATimeAndTheNextContinues() throws IOException {
        try (Writing first = writing()) {
            assertThat(first.mark()).isEqualTo(new Mark(1, 0, 0, false));
            assertThat(new LocalDocumentStore(root).open(run)).isNull();
            first.put("steps/1.json", bytes("one"));
            first.mark(new Mark(1, 7, 1, true));
        }
        try (Writing next = writing()) {
            assertThat(next.mark()).isEqualTo(new Mark(1, 7, 1, true));
            next.mark(new Mark(2, 0, 0, false));
        }
        try (Writing next = writing()) {
            assertThat(next.mark()).isEqualTo(new Mark(2, 0, 0, false));
        }
        assertThat(file("steps/1.json")).hasContent("one");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1 2", "x", "99999999999 1 1 true"})
    void aMarkThatCannotBeReadIsNone(String text) throws IOException {
        writing().close();
        Files.writeString(file(".mark"), text);
        try (Writing next = writing()) {
            assertThat(next.mark()).isEqualTo(new Mark(1, 0, 0, false));
        }
    }

    @Test
    void interruptedArchivingIsCompleted() throws IOException {
        try (Writing writing = writing()) {
            writing.put("steps/1.json", bytes("one"));
            writing.put("status.json", bytes("failed"));
            Files.createDirectories(file("attempts/1"));
            Files.move(file("steps"), file("attempts/1/steps"));
            writing.shelve(1);
            writing.shelve(1);
        }
        assertThat(file("attempts/1/steps/1.json")).hasContent("one");
        assertThat(file("attempts/1/status.json")).hasContent("failed");
        assertThat(file("status.json")).doesNotExist();
    }

    @Test
    void unchangedDocumentIsNotWrittenAgain() throws IOException {
        try (Writing writing = writing()) {
            writing.put("status.json", bytes("a"));
            Object key = Files.readAttributes(file("status.json"), "unix:ino").get("ino");
            writing.put("status.json", bytes("a"));
            assertThat(Files.readAttributes(file("status.json"), "unix:ino")).containsEntry("ino", key);
            writing.put("status.json", bytes("b"));
        }
        assertThat(file("status.json")).hasContent("b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"../x.json", ".mark", "steps/x.json", "attempts/1/status.json", "status.json/"})
    void onlyDocumentsHaveNames(String name) throws IOException {
        try (Writing writing = writing()) {
            assertThatThrownBy(() -> writing.put(name, bytes("x"))).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void deletedRunLeavesNothing() throws IOException {
        try (Writing writing = writing()) {
            writing.put("steps/1.json", bytes("one"));
            writing.put("status.json", bytes("a"));
            writing.shelve(1);
        }
        Files.createDirectory(root.resolve("other"));
        List<UUID> found = new ArrayList<>();
        store.runs(found::addAll);
        assertThat(found).containsExactly(run);
        try (Writing writing = writing()) {
            writing.remove();
        }
        assertThat(root.resolve("run_" + run)).doesNotExist();
    }
}
