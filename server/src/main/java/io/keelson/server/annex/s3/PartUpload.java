package io.keelson.server.annex.s3;

import io.keelson.server.base.artifact.ArtifactRules;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/**
 * Sends content of unknown length: as one object if it fits into a part, otherwise as a multipart upload of parts of 8 MiB. An object
 * appears whole or not at all. A failed upload is aborted; uploads of a server that was killed are left to the sweeper.
 */
final class PartUpload {

    /** Decides on the content before it becomes an object. */
    @FunctionalInterface
    interface Check {
        void accept() throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(PartUpload.class);

    private static final Duration LOOK_TIMEOUT = Duration.ofSeconds(10);
    private static final int MAX_COMPLETIONS = 3;
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LAST_PAUSE_MILLIS = 1_600;

    private final S3Client client;
    private final S3Client completions;
    private final S3Settings settings;
    private final PartBuffers buffers;
    private final BooleanSupplier conditional;

    /** @param conditional whether the store respects {@code If-None-Match} */
    PartUpload(S3Clients clients, S3Settings settings, PartBuffers buffers, BooleanSupplier conditional) {
        this.client = clients.requests();
        this.completions = clients.completions();
        this.settings = settings;
        this.buffers = buffers;
        this.conditional = conditional;
    }

    /**
     * Sends the content under a key of the bucket; does not close it.
     *
     * @param workspace shares the memory for parts with others
     * @param maxBytes of the content
     * @param fresh whether no object has had the key before
     * @param check called after all bytes were read, before the object appears
     * @return number of bytes
     */
    long send(String key, UUID workspace, InputStream content, long maxBytes, boolean fresh, Check check)
            throws IOException {
        try (PartBuffers.Buffer buffer = buffers.open(workspace)) {
            int first = buffer.fill(content);
            ArtifactRules.checkSize(first, maxBytes);
            if (first < PartBuffers.PART_BYTES) {
                check.accept();
                putWhole(key, buffer, first, fresh);
                return first;
            }
            return sendParts(key, buffer, content, maxBytes, fresh, check);
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    private void putWhole(String key, PartBuffers.Buffer buffer, int length, boolean fresh) throws IOException {
        PutObjectRequest.Builder request = PutObjectRequest.builder().bucket(settings.location().bucket()).key(key)
                .contentType("application/octet-stream").contentMD5(md5(buffer, length));
        S3Settings.Encryption encryption = settings.access().encryption();
        if (encryption != null) {
            request.serverSideEncryption(encryption.algorithm()).ssekmsKeyId(encryption.key());
        }
        request.ifNoneMatch(condition(fresh));
        try {
            client.putObject(request.build(), buffer.body());
        } catch (SdkException e) {
            if (!StoreFailure.repeated(e)) {
                throw e;
            }
            requireStored(key, length, e);
        }
    }

    private long sendParts(String key, PartBuffers.Buffer buffer, InputStream content, long maxBytes, boolean fresh,
            Check check) throws IOException {
        String upload = client.createMultipartUpload(begin(key)).uploadId();
        boolean complete = false;
        try {
            List<CompletedPart> parts = new ArrayList<>();
            long size = 0;
            for (int length = PartBuffers.PART_BYTES; length > 0; length = buffer.fill(content)) {
                size += length;
                ArtifactRules.checkSize(size, maxBytes);
                parts.add(sendPart(key, upload, parts.size() + 1, buffer, length));
                if (length < PartBuffers.PART_BYTES) {
                    break;
                }
            }
            check.accept();
            complete(key, upload, parts, size, fresh);
            complete = true;
            return size;
        } finally {
            if (!complete) {
                abort(key, upload);
            }
        }
    }

    private CreateMultipartUploadRequest begin(String key) {
        CreateMultipartUploadRequest.Builder request = CreateMultipartUploadRequest.builder()
                .bucket(settings.location().bucket()).key(key).contentType("application/octet-stream");
        S3Settings.Encryption encryption = settings.access().encryption();
        if (encryption != null) {
            request.serverSideEncryption(encryption.algorithm()).ssekmsKeyId(encryption.key());
        }
        return request.build();
    }

    private CompletedPart sendPart(String key, String upload, int number, PartBuffers.Buffer buffer, int length) {
        String md5 = md5(buffer, length);
        String tag = client.uploadPart(request -> request.bucket(settings.location().bucket()).key(key).uploadId(upload)
                .partNumber(number).contentMD5(md5), buffer.body()).eTag();
        return CompletedPart.builder().partNumber(number).eTag(tag).build();
    }

    /** A lost answer shows by the object: a store may still be at work on the first request, and fail a second one meanwhile. */
    private void complete(String key, String upload, List<CompletedPart> parts, long size, boolean fresh)
            throws IOException {
        SdkException failure = null;
        for (int i = 0; i < MAX_COMPLETIONS; i++) {
            try {
                completions.completeMultipartUpload(request -> request.bucket(settings.location().bucket()).key(key)
                        .uploadId(upload).ifNoneMatch(condition(fresh)).multipartUpload(all -> all.parts(parts))
                        .overrideConfiguration(calls -> calls.apiCallTimeout(S3Clients.completion(size))));
                return;
            } catch (SdkException e) {
                failure = e;
            }
            if (StoreFailure.repeated(failure)) {
                requireStored(key, size, failure);
                return;
            }
            if (StoreFailure.refused(failure)) {
                throw failure;
            }
            if (appears(key, size)) {
                return;
            }
        }
        throw failure;
    }

    private boolean appears(String key, long size) throws InterruptedIOException {
        for (long pause = FIRST_PAUSE_MILLIS; pause <= LAST_PAUSE_MILLIS; pause *= 2) {
            if (size(key) == size) {
                return true;
            }
            try {
                TimeUnit.MILLISECONDS.sleep(pause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while an upload ended");
            }
        }
        return false;
    }

    private @Nullable String condition(boolean fresh) {
        return fresh && conditional.getAsBoolean() ? "*" : null;
    }

    /** A repeated request is refused if its first try had its effect and its answer was lost. */
    private void requireStored(String key, long size, SdkException failure) throws IOException {
        if (size(key) != size) {
            throw StoreFailure.of(failure);
        }
    }

    /** Size of the object; -1 if it is absent or unknown. */
    private long size(String key) {
        try {
            return client.headObject(request -> request.bucket(settings.location().bucket()).key(key)
                    .overrideConfiguration(calls -> calls.apiCallTimeout(LOOK_TIMEOUT))).contentLength();
        } catch (SdkException e) {
            LOG.debug("it is unknown whether {} is there", key, e);
            return -1;
        }
    }

    private void abort(String key, String upload) {
        try {
            client.abortMultipartUpload(request -> request.bucket(settings.location().bucket()).key(key)
                    .uploadId(upload));
        } catch (SdkException e) {
            LOG.warn("could not abort the upload of {}, the sweeper will: {}", key, StoreFailure.reason(e));
        }
    }

    /** The store compares it with the bytes that arrive. */
    private static String md5(PartBuffers.Buffer buffer, int length) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(buffer.bytes(), 0, length);
            return Base64.getEncoder().encodeToString(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has MD5", e);
        }
    }
}
