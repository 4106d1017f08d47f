package io.keelson.server.annex.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.ArtifactRules;
import io.keelson.server.base.artifact.ArtifactStoreContract;
import io.keelson.server.base.artifact.ContentLink;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.problem.StartupException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults of object stores and of the way to them, on S3Proxy and S3Mock. Prints the rows of docs/operate/object-stores.md. */
@EnabledIfSystemProperty(named = "keelson.long", matches = "true")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class S3FaultsTest {

    private static final int LENGTH = 100 << 20;
    private static final int TRIES = 20;
    private static final Instant LATER = Instant.parse("2200-01-01T00:00:00Z");

    private final byte[] content = new byte[LENGTH];
    private MockStore mock;

    @BeforeAll
    void start(@TempDir Path folder) throws IOException {
        new Random(1).nextBytes(content);
        mock = new MockStore(folder);
    }

    @AfterAll
    void stop() throws IOException {
        mock.close();
    }

    private S3Settings settings(String server, URI endpoint, S3Settings.Keys keys) {
        S3Settings settings = new S3Settings(new S3Settings.Location("keelson", UUID.randomUUID() + "/"),
                new S3Settings.Access(endpoint, null, true, keys, null));
        if (server.equals("S3Mock")) {
            try (S3Clients clients = S3Clients.of(new S3Settings(settings.location(),
                    new S3Settings.Access(url(server), null, true, keys, null)))) {
                if (clients.requests().listBuckets().buckets().stream()
                        .noneMatch(each -> each.name().equals("keelson"))) {
                    clients.requests().createBucket(request -> request.bucket("keelson"));
                }
            } catch (StartupException | IOException e) {
                throw new AssertionError(e);
            }
        }
        return settings;
    }

    private URI url(String server) throws IOException {
        return server.equals("S3Mock") ? mock.url() : ObjectStoreProcess.shared().url();
    }

    private S3ArtifactStore open(String server, URI endpoint) throws Exception {
        if (!server.equals("S3Mock")) {
            ObjectStoreProcess.shared().settings();
        }
        return S3ArtifactStore.open(settings(server, endpoint, ObjectStoreProcess.KEYS), Long.MAX_VALUE,
                Duration.ofSeconds(2), ObjectStoreProcess.DATABASE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"S3Proxy", "S3Mock"})
    void transfersOf100MiBAreCutInTheMiddle(String server) throws Exception {
        String sha256 = HexFormat.of().formatHex(ArtifactRules.sha256().digest(content));
        long begin = System.nanoTime();
        int cuts = 0;
        try (CuttingProxy proxy = new CuttingProxy(url(server)); S3ArtifactStore store = open(server, proxy.url())) {
            for (int i = 0; i < TRIES; i++) {
                proxy.cutRequest((LENGTH / TRIES) * (long) i % (7 << 20));
                StoredArtifact stored = store.put(ArtifactStoreContract.OWNER, "long", "text/plain",
                        new ByteArrayInputStream(content));
                assertThat(stored.sha256()).isEqualTo(sha256);
                proxy.cutResponse(LENGTH / 2 + i);
                try (InputStream in = store.open(stored.storageKey())) {
                    assertThat(HexFormat.of().formatHex(ArtifactRules.sha256().digest(in.readAllBytes())))
                            .isEqualTo(sha256);
                }
                assertThat(store.delete(stored.storageKey())).isTrue();
            }
            cuts = proxy.made();
            assertThat(cuts).isEqualTo(2 * TRIES);
            assertThat(ArtifactStoreContract.keys(store, LATER)).isEmpty();
            assertThat(store.removeUnfinished(LATER)).isZero();
        }
        row(server, "100 MiB stored and read, each cut in the middle", 2 * TRIES,
                "all whole, %.1f s each".formatted((System.nanoTime() - begin) / 1e9 / 2 / TRIES));
    }

    @ParameterizedTest
    @ValueSource(strings = {"S3Proxy", "S3Mock"})
    void contentsThatBreakOffInTheMiddleLeaveNothing(String server) throws Exception {
        try (S3ArtifactStore store = open(server, url(server))) {
            for (int i = 0; i < TRIES; i++) {
                InputStream broken = new SequenceInputStream(new ByteArrayInputStream(content, 0, LENGTH / 2),
                        new InputStream() {
                            @Override
                            public int read() throws IOException {
                                throw new IOException("broke off");
                            }
                        });
                assertThatThrownBy(() -> store.put(ArtifactStoreContract.OWNER, "long", "text/plain", broken))
                        .hasMessage("broke off");
            }
            assertThat(ArtifactStoreContract.keys(store, LATER)).isEmpty();
            assertThat(store.removeUnfinished(LATER)).isZero();
        }
        row(server, "100 MiB broken off by the worker in the middle", TRIES, "no object, no unfinished upload");
    }

    @ParameterizedTest
    @ValueSource(strings = {"S3Proxy", "S3Mock"})
    void wrongSecretsAreRefused(String server) throws Exception {
        S3Settings wrong = settings(server, url(server), new S3Settings.Keys("keelson", "wrong"));
        String result;
        try (S3ArtifactStore store = S3ArtifactStore.open(wrong, 1, Duration.ZERO, ObjectStoreProcess.DATABASE)) {
            assertThat(server).as(store.place()).isEqualTo("S3Mock");
            result = "accepted: it verifies no signature";
        } catch (StartupException e) {
            result = "`" + e.code() + "` at the start";
        }
        row(server, "wrong secret", 1, result);
    }

    @ParameterizedTest
    @ValueSource(strings = {"S3Proxy", "S3Mock"})
    void unfinishedUploadsAreSwept(String server) throws Exception {
        S3Settings settings = settings(server, url(server), ObjectStoreProcess.KEYS);
        try (S3Clients clients = S3Clients.of(settings);
                S3ArtifactStore store = S3ArtifactStore.open(settings, 1, Duration.ZERO, ObjectStoreProcess.DATABASE)) {
            for (int i = 0; i < TRIES; i++) {
                clients.requests().createMultipartUpload(request -> request.bucket("keelson")
                        .key(settings.location().prefix() + ArtifactRules.newKey(ArtifactStoreContract.OWNER)));
            }
            assertThat(store.removeUnfinished(Instant.EPOCH)).isZero();
            assertThat(store.removeUnfinished(LATER)).isEqualTo(TRIES);
            assertThat(store.removeUnfinished(LATER)).isZero();
        }
        row(server, "unfinished uploads of killed servers", TRIES, "all swept after their time, none before");
    }

    @ParameterizedTest
    @ValueSource(strings = {"S3Proxy", "S3Mock"})
    void lateLinksAreRefused(String server) throws Exception {
        try (S3ArtifactStore store = open(server, url(server))) {
            StoredArtifact stored = store.put(ArtifactStoreContract.OWNER, "a", "text/plain",
                    new ByteArrayInputStream("abc".getBytes()));
            URI link = store.link(stored.storageKey(), new ContentLink("attachment", "text/plain"));
            assertThat(status(link)).isEqualTo(200);
            boolean refused = true;
            if (server.equals("S3Proxy")) {
                Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> status(link) == 403);
            } else {
                refused = status(link) != 200;
            }
            row(server, "link used late", 1, refused ? "403" : "accepted: it verifies no signature");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"S3Proxy", "S3Mock"})
    void ifNoneMatchIsTriedAtTheStart(String server) throws Exception {
        try (S3ArtifactStore store = open(server, url(server))) {
            assertThat(store.conditional()).isEqualTo(server.equals("S3Mock"));
            row(server, "`If-None-Match`", 1, store.conditional() ? "respected, and sent" : "ignored, and not sent");
        }
    }

    private static int status(URI link) throws IOException {
        return ((HttpURLConnection) link.toURL().openConnection()).getResponseCode();
    }

    private static void row(String server, String fault, int tries, String result) {
        System.err.printf(Locale.ROOT, "| %s | %s | %d | %s |%n", server, fault, tries, result);
    }
}
