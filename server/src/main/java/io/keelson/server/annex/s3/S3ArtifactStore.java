package io.keelson.server.annex.s3;

import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactRules;
import io.keelson.server.base.artifact.ContentDamagedException;
import io.keelson.server.base.artifact.ContentLink;
import io.keelson.server.base.artifact.CopyableStore;
import io.keelson.server.base.artifact.DocumentLocks;
import io.keelson.server.base.artifact.DocumentStore;
import io.keelson.server.base.artifact.StoreOwner;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.DatabaseIdentity;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.NoSuchFileException;
import java.security.DigestInputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Artifacts as objects of a bucket. An object has the prefix of the settings and the storage key as its key. The prefix belongs to one
 * database; a store that was opened for another one changes nothing.
 */
public final class S3ArtifactStore implements CopyableStore, AutoCloseable {

    /** The code where the prefix belongs to another database. */
    public static final String OTHER_OWNER = PrefixOwner.OTHER;

    private static final Logger LOG = LoggerFactory.getLogger(S3ArtifactStore.class);
    /** Maximum unfinished uploads that one sweep aborts. */
    private static final int MAX_ABORTED = 1_000;
    /** Commands that copy content have a process of their own. */
    private static final UUID COPIES = new UUID(0, 0);
    private static final String UNREACHABLE = "ARTIFACT_STORE_UNREACHABLE";

    private final S3Settings settings;
    private final S3Clients clients;
    private final S3Client client;
    private final String bucket;
    private final String prefix;
    private final long maxBytes;
    private final Duration links;
    private final PartUpload uploads;
    private final PrefixOwner marker;
    /** Null for a command, which claims the prefix itself if it changes objects. */
    private final @Nullable DatabaseIdentity database;
    private volatile boolean conditional;

    private S3ArtifactStore(S3Settings settings, S3Clients clients, long maxBytes, Duration links,
            @Nullable DatabaseIdentity database) {
        this.settings = settings;
        this.clients = clients;
        this.client = clients.requests();
        this.bucket = settings.location().bucket();
        this.prefix = settings.location().prefix();
        this.maxBytes = maxBytes;
        this.links = links;
        this.uploads = new PartUpload(clients, settings, new PartBuffers(Runtime.getRuntime().maxMemory()),
                () -> conditional);
        this.marker = new PrefixOwner(client, settings, () -> conditional);
        this.database = database;
    }

    /**
     * Opens the store for a server, probes it and claims the prefix. If it does not respond, it is opened all the same, and a
     * warning logged: its requests fail until it responds.
     *
     * @param maxBytes of one artifact
     * @param links how long links to content work; zero: no links
     * @param database the server's
     * @throws StartupException if the store refuses the settings, or the prefix belongs to another database
     */
    public static S3ArtifactStore open(S3Settings settings, long maxBytes, Duration links, DatabaseIdentity database)
            throws StartupException {
        return open(settings, maxBytes, links, database, false);
    }

    /**
     * Opens the store for one command, without regard to its owner.
     *
     * @throws StartupException if the store refuses the settings or does not respond
     */
    public static S3ArtifactStore openReachable(S3Settings settings, long maxBytes) throws StartupException {
        return open(settings, maxBytes, Duration.ZERO, null, true);
    }

    private static S3ArtifactStore open(S3Settings settings, long maxBytes, Duration links,
            @Nullable DatabaseIdentity database, boolean reachable) throws StartupException {
        S3ArtifactStore store = new S3ArtifactStore(settings, S3Clients.of(settings), maxBytes, links, database);
        boolean usable = false;
        try {
            store.probe();
            usable = true;
        } catch (StoreUnreachableException e) {
            if (reachable) {
                throw new StartupException(UNREACHABLE, String.valueOf(e.getMessage()), e);
            }
            LOG.warn("{}: {} Requests for artifacts are refused until it responds.", UNREACHABLE, e.getMessage());
            usable = true;
        } finally {
            if (!usable) {
                store.close();
            }
        }
        return store;
    }

    private void probe() throws StartupException, StoreUnreachableException {
        StoreProbe probe = new StoreProbe(client, settings);
        conditional = probe.run();
        if (database != null) {
            try {
                marker.requireAtStart(database);
            } catch (SdkException e) {
                throw probe.refusal("read or store", e);
            }
        }
        LOG.info("artifacts are in {}, which {} If-None-Match", settings.location(),
                conditional ? "respects" : "ignores");
    }

    /** Whether the store respected {@code If-None-Match} when it was opened. */
    public boolean conditional() {
        return conditional;
    }

    /**
     * Claims the prefix for a command that changes objects.
     *
     * @throws StartupException if it belongs to another database
     */
    public void claim(DatabaseIdentity claimant) throws IOException, StartupException {
        try {
            marker.requireAtStart(claimant);
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    /**
     * Checks whether {@link #claim} would succeed, and changes nothing.
     *
     * @throws StartupException if the prefix belongs to another database
     */
    public void requireClaimable(DatabaseIdentity claimant) throws IOException, StartupException {
        try {
            marker.requireClaimable(claimant);
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    /** Makes a database the owner of the prefix, also if another database is. */
    public void adopt(DatabaseIdentity claimant) throws IOException {
        marker.replace(claimant);
    }

    /** The owner of the prefix; null if absent. */
    public @Nullable StoreOwner owner() throws IOException {
        try {
            return marker.read();
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    /**
     * Reads the owner of the prefix for {@link #refusal}.
     *
     * @throws IOException if it is another database, or the store does not respond
     */
    public void readOwner() throws IOException {
        requireOwnerNow();
    }

    /** The owner and the remedies, if the prefix belonged to another database when its owner was last read; null if not. */
    public @Nullable String refusal() {
        return marker.refusal();
    }

    private void requireOwner() throws IOException {
        if (database != null) {
            marker.requireRecently(database);
        }
    }

    private void requireOwnerNow() throws IOException {
        if (database != null) {
            marker.requireNow(database);
        }
    }

    @Override
    public StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content)
            throws IOException {
        ArtifactRules.check(name, contentType);
        requireOwner();
        String key = ArtifactRules.newKey(owner);
        DigestInputStream digesting = new DigestInputStream(content, ArtifactRules.sha256());
        long size = uploads.send(prefix + key, owner.workspaceId(), digesting, maxBytes, true, () -> {
        });
        String hash = HexFormat.of().formatHex(digesting.getMessageDigest().digest());
        return new StoredArtifact(name, contentType, size, hash, key);
    }

    @Override
    public InputStream open(String storageKey) throws IOException {
        return new ResumedContent(client, bucket, locate(storageKey), 0);
    }

    @Override
    public InputStream open(String storageKey, long from) throws IOException {
        if (from > 0) {
            long size = size(storageKey);
            if (size < 0) {
                throw new NoSuchFileException(storageKey);
            }
            if (from >= size) {
                return InputStream.nullInputStream();
            }
        }
        return new ResumedContent(client, bucket, locate(storageKey), from);
    }

    @Override
    public long size(String storageKey) throws IOException {
        String key = locate(storageKey);
        try {
            return client.headObject(request -> request.bucket(bucket).key(key)).contentLength();
        } catch (SdkException e) {
            if (StoreFailure.missing(e)) {
                return -1;
            }
            throw StoreFailure.of(e, storageKey);
        }
    }

    @Override
    public void copyIn(String storageKey, InputStream content, String sha256) throws IOException {
        DigestInputStream digesting = new DigestInputStream(content, ArtifactRules.sha256());
        uploads.send(locate(storageKey), COPIES, digesting, Long.MAX_VALUE, false, () -> {
            String actual = HexFormat.of().formatHex(digesting.getMessageDigest().digest());
            if (!actual.equals(sha256)) {
                throw new ContentDamagedException(sha256, actual);
            }
        });
    }

    @Override
    public boolean delete(String storageKey) throws IOException {
        requireOwner();
        if (size(storageKey) < 0) {
            return false;
        }
        String key = locate(storageKey);
        try {
            client.deleteObject(request -> request.bucket(bucket).key(key));
            return true;
        } catch (SdkException e) {
            throw StoreFailure.of(e, storageKey);
        }
    }

    @Override
    public void storedBefore(Instant time, Keys keys) throws IOException {
        requireOwnerNow();
        try {
            for (ListObjectsV2Response page : client
                    .listObjectsV2Paginator(request -> request.bucket(bucket).prefix(prefix))) {
                List<String> found = page.contents().stream().filter(each -> each.lastModified().isBefore(time))
                        .map(S3Object::key).map(key -> key.substring(prefix.length())).filter(ArtifactRules::isKey)
                        .toList();
                if (!found.isEmpty()) {
                    keys.take(found);
                }
            }
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    @Override
    public int removeUnfinished(Instant time) throws IOException {
        requireOwnerNow();
        int aborted = 0;
        try {
            ListMultipartUploadsResponse page = client
                    .listMultipartUploads(request -> request.bucket(bucket).prefix(prefix));
            while (true) {
                for (MultipartUpload each : page.uploads()) {
                    String key = each.key();
                    if (key.startsWith(prefix) && ArtifactRules.isKey(key.substring(prefix.length()))
                            && each.initiated().isBefore(time) && aborted < MAX_ABORTED) {
                        client.abortMultipartUpload(request -> request.bucket(bucket).key(key)
                                .uploadId(each.uploadId()));
                        aborted++;
                    }
                }
                if (aborted == MAX_ABORTED || !Boolean.TRUE.equals(page.isTruncated())) {
                    return aborted;
                }
                String keyMarker = page.nextKeyMarker();
                String uploadMarker = page.nextUploadIdMarker();
                page = client.listMultipartUploads(request -> request.bucket(bucket).prefix(prefix)
                        .keyMarker(keyMarker).uploadIdMarker(uploadMarker));
            }
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    @Override
    public @Nullable URI link(String storageKey, ContentLink terms) throws IOException {
        if (links.isZero()) {
            return null;
        }
        GetObjectRequest content = GetObjectRequest.builder().bucket(bucket).key(locate(storageKey))
                .responseContentDisposition(terms.disposition()).responseContentType(terms.contentType())
                .responseCacheControl("private, no-store").build();
        try {
            return URI.create(clients.links().presignGetObject(request -> request
                    .signatureDuration(links).getObjectRequest(content)).url().toString());
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    /** Documents about runs in the same place. */
    public DocumentStore documents(DocumentLocks locks) {
        return new S3DocumentStore(client, settings, locks, this::requireOwner, this::requireOwnerNow);
    }

    @Override
    public long maxBytes() {
        return maxBytes;
    }

    @Override
    public String place() {
        return settings.location().toString();
    }

    private String locate(String storageKey) throws NoSuchFileException {
        if (!ArtifactRules.isKey(storageKey)) {
            throw new NoSuchFileException(storageKey);
        }
        return prefix + storageKey;
    }

    @Override
    public void close() {
        clients.close();
    }
}
