package io.keelson.server.annex.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.server.base.artifact.ArtifactRules;
import io.keelson.server.base.artifact.ArtifactStoreContract;
import io.keelson.server.base.artifact.ContentDamagedException;
import io.keelson.server.base.artifact.ContentLink;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.problem.StartupException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The duties of a store, and those of an object store, on S3Proxy. */
@Breadth.InPart(1)
class S3ArtifactStoreTest extends ArtifactStoreContract {

    private static final Instant LATER = Instant.parse("2200-01-01T00:00:00Z");
    private static final int LONG = 20 << 20;

    private final List<S3ArtifactStore> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(S3ArtifactStore::close);
    }

    @Override
    protected S3ArtifactStore store() throws IOException {
        return open(ObjectStoreProcess.shared().settings(), MAX);
    }

    private S3ArtifactStore open(S3Settings settings, long maxBytes) throws IOException {
        try {
            S3ArtifactStore store = S3ArtifactStore.open(settings, maxBytes, Duration.ofMinutes(1),
                    ObjectStoreProcess.DATABASE);
            opened.add(store);
            return store;
        } catch (StartupException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void storeThatIgnoresIfNoneMatchIsUsable() throws IOException {
        assertThat(store().conditional()).isFalse();
    }

    @Test
    void longContentIsSentInParts() throws IOException {
        S3ArtifactStore store = open(ObjectStoreProcess.shared().settings(), Long.MAX_VALUE);
        byte[] content = random(LONG);
        StoredArtifact stored = store.put(OWNER, "long", "text/plain", new ByteArrayInputStream(content));
        assertThat(stored.sizeBytes()).isEqualTo(LONG);
        assertThat(stored.sha256()).isEqualTo(sha256(content));
        try (InputStream in = store.open(stored.storageKey())) {
            assertThat(in.readAllBytes()).isEqualTo(content);
        }
        try (InputStream in = store.open(stored.storageKey(), LONG - 10)) {
            assertThat(in.readAllBytes()).hasSize(10);
        }
        try (InputStream in = store.open(stored.storageKey(), LONG)) {
            assertThat(in.readAllBytes()).isEmpty();
        }
    }

    @Test
    void brokenLongContentLeavesNoUpload() throws IOException {
        S3ArtifactStore store = open(ObjectStoreProcess.shared().settings(), Long.MAX_VALUE);
        InputStream broken = new SequenceInputStream(new ByteArrayInputStream(random(LONG)), new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("broke off");
            }
        });
        assertThatThrownBy(() -> store.put(OWNER, "long", "text/plain", broken)).hasMessage("broke off");
        assertThat(keys(store, LATER)).isEmpty();
        assertThat(store.removeUnfinished(LATER)).isZero();
    }

    @Test
    void unfinishedUploadsAreRemovedAfterTheirTime() throws Exception {
        S3Settings settings = ObjectStoreProcess.shared().settings();
        S3ArtifactStore store = open(settings, MAX);
        try (S3Clients clients = S3Clients.of(settings)) {
            clients.requests().createMultipartUpload(request -> request.bucket(settings.location().bucket())
                    .key(settings.location().prefix() + ArtifactRules.newKey(OWNER)));
            clients.requests().createMultipartUpload(request -> request.bucket(settings.location().bucket())
                    .key(settings.location().prefix() + "of-another-program"));
        }
        assertThat(store.removeUnfinished(Instant.EPOCH)).isZero();
        assertThat(store.removeUnfinished(LATER)).isOne();
        assertThat(store.removeUnfinished(LATER)).isZero();
    }

    @Test
    void objectsOfOtherProgramsAreNotListed() throws Exception {
        S3Settings settings = ObjectStoreProcess.shared().settings();
        S3ArtifactStore store = open(settings, MAX);
        try (S3Clients clients = S3Clients.of(settings)) {
            clients.requests().putObject(request -> request.bucket(settings.location().bucket())
                    .key(settings.location().prefix() + "of-another-program"),
                    software.amazon.awssdk.core.sync.RequestBody.fromString("x"));
        }
        assertThat(keys(store, LATER)).isEmpty();
    }

    @Test
    void cutConnectionsDelayATransferOnly() throws IOException {
        ObjectStoreProcess process = ObjectStoreProcess.shared();
        try (CuttingProxy proxy = new CuttingProxy(process.url())) {
            S3ArtifactStore store = open(process.settings(proxy.url(), ObjectStoreProcess.KEYS), Long.MAX_VALUE);
            byte[] content = random(LONG);
            proxy.cutRequest(4 << 20);
            StoredArtifact stored = store.put(OWNER, "long", "text/plain", new ByteArrayInputStream(content));
            assertThat(stored.sha256()).isEqualTo(sha256(content));
            assertThat(proxy.made()).isOne();
            proxy.cutResponse(4 << 20);
            proxy.cutResponse(4 << 20);
            try (InputStream in = store.open(stored.storageKey())) {
                assertThat(in.readAllBytes()).isEqualTo(content);
            }
            assertThat(proxy.made()).isEqualTo(3);
        }
    }

    @Test
    void lostAnswerToTheEndOfAnUploadIsNotAFailure() throws IOException {
        ObjectStoreProcess process = ObjectStoreProcess.shared();
        try (CuttingProxy proxy = new CuttingProxy(process.url())) {
            S3ArtifactStore store = open(process.settings(proxy.url(), ObjectStoreProcess.KEYS), Long.MAX_VALUE);
            byte[] content = random(LONG);
            proxy.loseResponseTo("<CompleteMultipartUpload");
            StoredArtifact stored = store.put(OWNER, "long", "text/plain", new ByteArrayInputStream(content));
            assertThat(proxy.made()).isOne();
            try (InputStream in = store.open(stored.storageKey())) {
                assertThat(in.readAllBytes()).isEqualTo(content);
            }
            assertThat(keys(store, LATER)).containsExactly(stored.storageKey());
            assertThat(store.removeUnfinished(LATER)).isZero();
        }
    }

    /** Many stores copy all parts before they respond. */
    @Test
    void endOfAnUploadHasMoreTimeThanOtherRequests() throws Exception {
        ObjectStoreProcess process = ObjectStoreProcess.shared();
        Duration usual = Duration.ofSeconds(3);
        try (CuttingProxy proxy = new CuttingProxy(process.url());
                S3Clients clients = S3Clients.of(process.settings(proxy.url(), ObjectStoreProcess.KEYS),
                        new S3Clients.Waits(usual, usual, usual, 2))) {
            S3Settings settings = process.settings(proxy.url(), ObjectStoreProcess.KEYS);
            PartUpload upload = new PartUpload(clients, settings, new PartBuffers(1L << 30), () -> false);
            proxy.delayResponsesTo("<CompleteMultipartUpload", usual.plusMillis(500));
            byte[] content = random(PartBuffers.PART_BYTES + 1);
            assertThat(upload.send(settings.location().prefix() + "late", OWNER.workspaceId(),
                    new ByteArrayInputStream(content), Long.MAX_VALUE, true, () -> {
                    })).isEqualTo(content.length);
        }
    }

    @ParameterizedTest
    @CsvSource({"8388609, PT2M", "1073741824, PT3M4S", "10737418240, PT12M40S", "9223372036854775807, PT1H25M20S"})
    void endOfAnUploadHasTimeByItsSize(long bytes, Duration expected) {
        assertThat(S3Clients.completion(bytes)).isEqualTo(expected);
    }

    @Test
    void copiedContentHasTheDigestOfItsSource() throws IOException {
        S3ArtifactStore store = store();
        String key = ArtifactRules.newKey(OWNER);
        assertThat(store.size(key)).isEqualTo(-1);
        assertThatThrownBy(() -> store.copyIn(key, bytes("abd"), sha256("abc".getBytes())))
                .isInstanceOf(ContentDamagedException.class);
        assertThat(store.size(key)).isEqualTo(-1);
        store.copyIn(key, bytes("abc"), sha256("abc".getBytes()));
        assertThat(store.size(key)).isEqualTo(3);
    }

    @Test
    void linkNeedsNoKeyAndFixesNameAndType() throws IOException {
        S3ArtifactStore store = store();
        StoredArtifact stored = store.put(OWNER, "a.txt", "text/plain", bytes("abc"));
        URI link = store.link(stored.storageKey(), new ContentLink("attachment; filename*=UTF-8''a.txt", "text/csv"));
        HttpURLConnection response = (HttpURLConnection) link.toURL().openConnection();
        assertThat(response.getInputStream().readAllBytes()).isEqualTo("abc".getBytes());
        assertThat(response.getContentType()).isEqualTo("text/csv");
        assertThat(response.getHeaderField("Content-Disposition")).isEqualTo("attachment; filename*=UTF-8''a.txt");
        HttpURLConnection changed =
                (HttpURLConnection) URI.create(link.toString().replace("text%2Fcsv", "text%2Fhtml")).toURL()
                        .openConnection();
        assertThat(changed.getResponseCode()).isEqualTo(403);
    }

    @Test
    void wrongSecretsAndBucketsAreRefused() throws IOException {
        ObjectStoreProcess process = ObjectStoreProcess.shared();
        S3Settings right = process.settings();
        S3Settings secret = process.settings(process.url(), new S3Settings.Keys("keelson", "wrong"));
        S3Settings bucket = new S3Settings(new S3Settings.Location("no-such-bucket", ""), right.access());
        assertThatThrownBy(() -> S3ArtifactStore.open(secret, MAX, Duration.ZERO, ObjectStoreProcess.DATABASE))
                .isInstanceOfSatisfying(StartupException.class,
                        e -> assertThat(e.code()).isEqualTo("ARTIFACT_STORE_REFUSED"))
                .hasMessageContaining("Correct KEELSON_S3_ACCESS_KEY").hasMessageNotContaining("wrong");
        assertThatThrownBy(() -> S3ArtifactStore.open(bucket, MAX, Duration.ZERO, ObjectStoreProcess.DATABASE))
                .isInstanceOfSatisfying(StartupException.class,
                        e -> assertThat(e.code()).isEqualTo("ARTIFACT_STORE_REFUSED"))
                .hasMessageContaining("Create the bucket");
    }

    @Test
    void absentStoreIsOpenedAndItsRequestsFail() throws Exception {
        ObjectStoreProcess process = ObjectStoreProcess.shared();
        S3Settings away = process.settings(URI.create("http://127.0.0.1:9"), ObjectStoreProcess.KEYS);
        S3ArtifactStore store = open(away, MAX);
        assertThatThrownBy(() -> store.put(OWNER, "a", "text/plain", bytes("abc")))
                .isInstanceOf(IOException.class).hasMessageContaining("Connection refused");
        assertThatThrownBy(() -> S3ArtifactStore.openReachable(away, MAX))
                .isInstanceOfSatisfying(StartupException.class,
                        e -> assertThat(e.code()).isEqualTo("ARTIFACT_STORE_UNREACHABLE"));
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static String sha256(byte[] bytes) {
        return HexFormat.of().formatHex(ArtifactRules.sha256().digest(bytes));
    }
}
