package io.keelson.server.annex.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.server.base.artifact.ArtifactStoreContract;
import io.keelson.server.base.artifact.DocumentStore;
import io.keelson.server.base.artifact.StoreOwner;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.DatabaseIdentity;
import io.keelson.server.base.problem.StartupException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two databases at one prefix: the second one changes nothing until it adopts the prefix, and then the first one does not. */
@Breadth.InPart(1)
class PrefixOwnerTest {

    private static final DatabaseIdentity FIRST = new DatabaseIdentity("7-1", "first");
    private static final DatabaseIdentity SECOND = new DatabaseIdentity("7-2", "second");
    private static final Instant LATER = Instant.parse("2200-01-01T00:00:00Z");

    private final List<S3ArtifactStore> opened = new ArrayList<>();
    private S3Settings settings;

    @BeforeEach
    void newPrefix() throws IOException {
        settings = ObjectStoreProcess.shared().settings();
    }

    @AfterEach
    void close() {
        opened.forEach(S3ArtifactStore::close);
    }

    private S3ArtifactStore open(DatabaseIdentity database) throws StartupException {
        S3ArtifactStore store = S3ArtifactStore.open(settings, 100, Duration.ZERO, database);
        opened.add(store);
        return store;
    }

    private S3ArtifactStore command() throws StartupException {
        S3ArtifactStore store = S3ArtifactStore.openReachable(settings, 100);
        opened.add(store);
        return store;
    }

    private static StoredArtifact put(S3ArtifactStore store) throws IOException {
        return store.put(ArtifactStoreContract.OWNER, "a", "text/plain", new ByteArrayInputStream(new byte[] {1}));
    }

    @Test
    void secondDatabaseIsRefusedWithTheOwnerAndTheRemedies() throws Exception {
        open(FIRST);
        open(FIRST);
        assertThat(command().owner()).extracting(StoreOwner::id, StoreOwner::name).containsExactly("7-1", "first");
        assertThatThrownBy(() -> open(SECOND))
                .isInstanceOfSatisfying(StartupException.class,
                        e -> assertThat(e.code()).isEqualTo("ARTIFACT_STORE_OF_OTHER_DATABASE"))
                .hasMessageContainingAll("belongs to the database first (7-1)", "this is the database second (7-2)",
                        "another prefix", "`keelson artifacts adopt`");
        assertThatThrownBy(() -> command().claim(SECOND)).isInstanceOf(StartupException.class);
        assertThatThrownBy(() -> command().requireClaimable(SECOND)).isInstanceOf(StartupException.class);
    }

    @Test
    void prefixWithContentAndWithoutOwnerBelongsToTheFirstServer() throws Exception {
        String key = put(command()).storageKey();
        assertThat(command().owner()).isNull();
        S3ArtifactStore store = open(FIRST);
        assertThat(ArtifactStoreContract.keys(store, LATER)).containsExactly(key);
        assertThatThrownBy(() -> open(SECOND)).isInstanceOf(StartupException.class);
    }

    @Test
    void formerOwnerRemovesNothing() throws Exception {
        S3ArtifactStore former = open(FIRST);
        StoredArtifact kept = put(former);
        DocumentStore documents = former.documents(run -> null);
        command().adopt(SECOND);
        S3ArtifactStore owner = open(SECOND);

        String code = "ARTIFACT_STORE_OF_OTHER_DATABASE";
        assertThatThrownBy(() -> former.storedBefore(LATER, found -> {
        })).hasMessageStartingWith(code);
        assertThatThrownBy(() -> former.removeUnfinished(LATER)).hasMessageStartingWith(code);
        assertThatThrownBy(() -> documents.runs(found -> {
        })).hasMessageStartingWith(code);
        assertThatThrownBy(() -> former.delete(kept.storageKey())).hasMessageStartingWith(code);
        assertThatThrownBy(() -> put(former)).hasMessageStartingWith(code);
        assertThat(owner.size(kept.storageKey())).isOne();
        assertThat(owner.delete(kept.storageKey())).isTrue();
    }

    @Test
    void unreadableMarkerIsAnotherOwner() throws Exception {
        try (S3Clients clients = S3Clients.of(settings)) {
            clients.requests().putObject(request -> request.bucket(settings.location().bucket())
                    .key(settings.location().prefix() + PrefixOwner.NAME),
                    software.amazon.awssdk.core.sync.RequestBody.fromString("x"));
        }
        assertThatThrownBy(() -> open(FIRST)).hasMessageContaining("belongs to an unknown program");
        command().adopt(FIRST);
        open(FIRST);
    }

    @Test
    void absentMarkerIsWrittenBeforeASweep() throws Exception {
        S3ArtifactStore owner = open(FIRST);
        try (S3Clients clients = S3Clients.of(settings)) {
            clients.requests().deleteObject(request -> request.bucket(settings.location().bucket())
                    .key(settings.location().prefix() + PrefixOwner.NAME));
        }
        assertThat(ArtifactStoreContract.keys(owner, LATER)).isEmpty();
        assertThatThrownBy(() -> open(SECOND)).isInstanceOf(StartupException.class);
    }
}
