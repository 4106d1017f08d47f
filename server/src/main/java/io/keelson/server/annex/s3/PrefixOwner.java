package io.keelson.server.annex.s3;

import io.keelson.server.base.artifact.StoreOwner;
import io.keelson.server.base.db.DatabaseIdentity;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * The marker of a prefix: an object that names the database whose servers may change the other objects. The sweep of a database removes
 * what its rows do not name, so two databases at one prefix would remove each other's artifacts. A prefix without a marker
 * belongs to the first database that claims it.
 */
final class PrefixOwner {

    /** Proves that the prefix belongs to the database of the store. */
    @FunctionalInterface
    interface Proof {
        void require() throws IOException;
    }

    static final String OTHER = "ARTIFACT_STORE_OF_OTHER_DATABASE";
    /** Storage keys begin with a workspace's id, so no sweep lists it. */
    static final String NAME = ".keelson-owner";

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    /** A store without {@code If-None-Match} lets two databases claim a prefix at once. The first one notices after this time. */
    private static final long RECENT_NANOS = Duration.ofMinutes(1).toNanos();

    private final S3Client client;
    private final S3Settings settings;
    private final String bucket;
    private final String key;
    private final BooleanSupplier conditional;
    private final AwsRequestOverrideConfiguration bounded =
            AwsRequestOverrideConfiguration.builder().apiCallTimeout(TIMEOUT).build();
    private volatile @Nullable Long confirmed;
    /** Why the database of the store is not the owner, as last read; null if it is. */
    private volatile @Nullable String refusal;

    /** @param conditional whether the store respects {@code If-None-Match} */
    PrefixOwner(S3Client client, S3Settings settings, BooleanSupplier conditional) {
        this.client = client;
        this.settings = settings;
        this.bucket = settings.location().bucket();
        this.key = settings.location().prefix() + NAME;
        this.conditional = conditional;
    }

    /** Reads the marker; null if the prefix has none. */
    @Nullable StoreOwner read() {
        try {
            ResponseBytes<GetObjectResponse> marker = client.getObjectAsBytes(request -> request.bucket(bucket).key(key)
                    .overrideConfiguration(bounded));
            JsonNode content = content(marker.asByteArray());
            return new StoreOwner(content.path("database_id").asString(""), content.path("database").asString(""),
                    marker.response().lastModified());
        } catch (SdkException e) {
            if (StoreFailure.missing(e)) {
                return null;
            }
            throw e;
        }
    }

    private static JsonNode content(byte[] bytes) {
        try {
            return Json.read(bytes);
        } catch (JacksonException e) {
            return Json.object();
        }
    }

    /** Makes a database the owner if there is none; returns the owner, which can be another database. */
    StoreOwner claim(DatabaseIdentity database) {
        StoreOwner owner = read();
        if (owner == null) {
            write(database, conditional.getAsBoolean());
            owner = read();
        }
        if (owner == null) {
            throw SdkException.builder().message(settings.location() + " lost the object " + key).build();
        }
        return owner;
    }

    /**
     * As {@link #claim}, at the start.
     *
     * @throws StartupException {@link #OTHER}
     */
    void requireAtStart(DatabaseIdentity database) throws StartupException {
        require(claim(database), database);
        confirmed = System.nanoTime();
    }

    /** Proves that a database is the owner now, before a sweep. */
    void requireNow(DatabaseIdentity database) throws IOException {
        try {
            require(claim(database), database);
            confirmed = System.nanoTime();
        } catch (StartupException e) {
            confirmed = null;
            throw new IOException(OTHER + ": " + e.getMessage(), e);
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    /** The owner and the remedies, if another database was the owner when the marker was last read; null if not. */
    @Nullable String refusal() {
        return refusal;
    }

    /** Proves that a database was the owner a minute ago or later, before a change of a single object. */
    void requireRecently(DatabaseIdentity database) throws IOException {
        Long last = confirmed;
        if (last == null || System.nanoTime() - last > RECENT_NANOS) {
            requireNow(database);
        }
    }

    /**
     * Checks the marker, if there is one.
     *
     * @throws StartupException {@link #OTHER}
     */
    void requireClaimable(DatabaseIdentity database) throws StartupException {
        StoreOwner owner = read();
        if (owner != null) {
            require(owner, database);
        }
    }

    private void require(StoreOwner owner, DatabaseIdentity database) throws StartupException {
        if (!owner.id().equals(database.id())) {
            String found = refusal(owner, database);
            refusal = found;
            throw new StartupException(OTHER, found, null);
        }
        refusal = null;
    }

    /** Makes a database the owner, also if another database is. */
    void replace(DatabaseIdentity database) throws IOException {
        try {
            StoreOwner former = read();
            if (former == null || !former.id().equals(database.id())) {
                write(database, false);
            }
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    private void write(DatabaseIdentity database, boolean first) {
        PutObjectRequest.Builder request = PutObjectRequest.builder().bucket(bucket).key(key)
                .contentType("application/json").ifNoneMatch(first ? "*" : null).overrideConfiguration(bounded);
        S3Settings.Encryption encryption = settings.access().encryption();
        if (encryption != null) {
            request.serverSideEncryption(encryption.algorithm()).ssekmsKeyId(encryption.key());
        }
        try {
            client.putObject(request.build(), RequestBody.fromBytes(Json.write(Json.object()
                    .put("database_id", database.id()).put("database", database.name()))));
        } catch (SdkException e) {
            if (!first || !StoreFailure.repeated(e)) {
                throw e;
            }
        }
    }

    private String refusal(StoreOwner owner, DatabaseIdentity database) {
        return settings.location() + " belongs to " + owner + ", and this is the database " + database
                + ": each would remove the artifacts of the other. Set KEELSON_ARTIFACTS to another prefix, or, if this"
                + " database replaces the other one and all servers of that one have stopped, call"
                + " `keelson artifacts adopt`, or `keelson restore` with --adopt-artifacts.";
    }
}
