package io.keelson.server.annex.s3;

import io.keelson.server.base.problem.StartupException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Stores, reads and removes an object, so that wrong settings stop a start instead of a run. */
final class StoreProbe {

    static final String REFUSED = "ARTIFACT_STORE_REFUSED";
    static final String CREDENTIALS_MISSING = "ARTIFACT_STORE_CREDENTIALS_MISSING";

    private static final String TEXT = "Keelson tries this store.\n";
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int SERVER_ERRORS = 500;
    private static final int SLOW_DOWN = 429;

    private final S3Client client;
    private final S3Settings settings;
    private final String bucket;
    private final String key;
    private final AwsRequestOverrideConfiguration bounded =
            AwsRequestOverrideConfiguration.builder().apiCallTimeout(TIMEOUT).build();

    StoreProbe(S3Client client, S3Settings settings) {
        this.client = client;
        this.settings = settings;
        this.bucket = settings.location().bucket();
        this.key = settings.location().prefix() + ".keelson-probe/" + UUID.randomUUID();
    }

    /** Returns whether the store respects {@code If-None-Match}. */
    boolean run() throws StartupException, StoreUnreachableException {
        String action = "store";
        try {
            client.putObject(put().build(), RequestBody.fromString(TEXT));
            boolean conditional = conditional();
            action = "read";
            String read = client.getObjectAsBytes(request -> request.bucket(bucket).key(key)
                    .overrideConfiguration(bounded)).asString(StandardCharsets.UTF_8);
            if (!read.equals(TEXT)) {
                throw new StartupException(REFUSED, settings.location() + " returns other bytes than it was given.",
                        null);
            }
            action = "list";
            client.listObjectsV2(request -> request.bucket(bucket).prefix(key).overrideConfiguration(bounded));
            action = "remove";
            client.deleteObject(request -> request.bucket(bucket).key(key).overrideConfiguration(bounded));
            return conditional;
        } catch (SdkException e) {
            throw refusal(action, e);
        }
    }

    private PutObjectRequest.Builder put() {
        PutObjectRequest.Builder request = PutObjectRequest.builder().bucket(bucket).key(key)
                .overrideConfiguration(bounded);
        S3Settings.Encryption encryption = settings.access().encryption();
        return encryption == null ? request
                : request.serverSideEncryption(encryption.algorithm()).ssekmsKeyId(encryption.key());
    }

    /** A store without support for the header replaces the object or refuses the request. */
    private boolean conditional() {
        try {
            client.putObject(put().ifNoneMatch("*").build(), RequestBody.fromString(TEXT));
            return false;
        } catch (S3Exception e) {
            return StoreFailure.repeated(e);
        }
    }

    /** The exception for a failed request of the start. */
    StartupException refusal(String action, SdkException failure)
            throws StartupException, StoreUnreachableException {
        String message = "Cannot " + action + " an object in " + settings.location()
                + (settings.access().endpoint() == null ? "" : " at " + settings.access().endpoint()) + ": "
                + StoreFailure.reason(failure) + ".";
        if (failure instanceof S3Exception answer) {
            if (answer.statusCode() >= SERVER_ERRORS || answer.statusCode() == SLOW_DOWN) {
                throw new StoreUnreachableException(message, failure);
            }
            return new StartupException(REFUSED, message + advice(StoreFailure.code(answer), answer.statusCode()),
                    failure);
        }
        if (failure instanceof SdkClientException && String.valueOf(failure.getMessage()).contains("credentials")) {
            return new StartupException(CREDENTIALS_MISSING, "There are no credentials for " + settings.location()
                    + ": set KEELSON_S3_ACCESS_KEY and KEELSON_S3_SECRET_KEY, or provide the environment's.", failure);
        }
        throw new StoreUnreachableException(message, failure);
    }

    private static String advice(String code, int status) {
        return switch (code) {
            case "NoSuchBucket" -> " Create the bucket, or correct KEELSON_ARTIFACTS.";
            case "SignatureDoesNotMatch", "InvalidAccessKeyId" -> " Correct KEELSON_S3_ACCESS_KEY and"
                    + " KEELSON_S3_SECRET_KEY.";
            case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException" ->
                " Set KEELSON_S3_REGION to the region of the bucket.";
            case "AccessDenied" -> " The credentials need s3:GetObject, s3:PutObject, s3:DeleteObject,"
                    + " s3:AbortMultipartUpload, s3:ListBucket and s3:ListBucketMultipartUploads.";
            default -> status == 403 ? " Correct the credentials, or their permissions."
                    : " Correct KEELSON_ARTIFACTS and the settings KEELSON_S3_….";
        };
    }
}
