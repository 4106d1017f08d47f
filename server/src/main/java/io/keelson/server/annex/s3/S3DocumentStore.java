package io.keelson.server.annex.s3;

import io.keelson.server.base.artifact.DocumentLocks;
import io.keelson.server.base.artifact.DocumentStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.CopyObjectRequest;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Documents as objects below {@code runs/}. The object {@code .mark} of a run has their progress. A lock outside of the store makes a
 * run's writer the only one; the writer proves before each change that it still has the lock.
 */
final class S3DocumentStore implements DocumentStore {

    private static final String ROOT = "runs/";
    private static final String MARK = ".mark";
    private static final Pattern RUN = Pattern.compile("run_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/");
    private static final Pattern MARK_TEXT = Pattern.compile("(\\d{1,9}) (\\d{1,18}) (\\d{1,18}) (true|false)");
    private static final Pattern NAME = Pattern.compile("(?:steps/\\d{1,18}|status|manifest)\\.json");

    private final S3Client client;
    private final S3Settings settings;
    private final String bucket;
    private final String root;
    private final DocumentLocks locks;
    private final PrefixOwner.Proof owned;
    private final PrefixOwner.Proof ownedNow;

    /**
     * @param owned required before a run's documents are changed
     * @param ownedNow required before the documents of absent runs are listed, to be removed
     */
    S3DocumentStore(S3Client client, S3Settings settings, DocumentLocks locks, PrefixOwner.Proof owned,
            PrefixOwner.Proof ownedNow) {
        this.client = client;
        this.settings = settings;
        this.bucket = settings.location().bucket();
        this.root = settings.location().prefix() + ROOT;
        this.locks = locks;
        this.owned = owned;
        this.ownedNow = ownedNow;
    }

    @Override
    public @Nullable Writing open(UUID run) throws IOException {
        owned.require();
        DocumentLocks.Lock lock = locks.take(run);
        if (lock == null) {
            return null;
        }
        Writing opened = null;
        try {
            opened = new Documents(root + "run_" + run + "/", lock);
            return opened;
        } finally {
            if (opened == null) {
                lock.close();
            }
        }
    }

    @Override
    public void runs(Runs runs) throws IOException {
        ownedNow.require();
        try {
            for (ListObjectsV2Response page : client.listObjectsV2Paginator(
                    request -> request.bucket(bucket).prefix(root).delimiter("/"))) {
                List<UUID> found = page.commonPrefixes().stream().map(CommonPrefix::prefix)
                        .map(each -> RUN.matcher(each.substring(root.length()))).filter(Matcher::matches)
                        .map(each -> UUID.fromString(each.group(1))).toList();
                if (!found.isEmpty()) {
                    runs.take(found);
                }
            }
        } catch (SdkException e) {
            throw StoreFailure.of(e);
        }
    }

    private final class Documents implements Writing {
        private final String folder;
        private final DocumentLocks.Lock lock;
        private Mark mark;

        Documents(String folder, DocumentLocks.Lock lock) throws IOException {
            this.folder = folder;
            this.lock = lock;
            this.mark = read();
        }

        /** An unreadable mark counts as no mark: the documents are written once more. */
        private Mark read() throws IOException {
            try {
                Matcher text = MARK_TEXT.matcher(client
                        .getObjectAsBytes(request -> request.bucket(bucket).key(folder + MARK))
                        .asString(StandardCharsets.US_ASCII));
                return text.matches()
                        ? new Mark(Integer.parseInt(text.group(1)), Long.parseLong(text.group(2)),
                                Long.parseLong(text.group(3)), Boolean.parseBoolean(text.group(4)))
                        : Mark.NONE;
            } catch (SdkException e) {
                if (StoreFailure.missing(e)) {
                    return Mark.NONE;
                }
                throw StoreFailure.of(e);
            }
        }

        @Override
        public Mark mark() {
            return mark;
        }

        @Override
        public void put(String name, byte[] bytes) throws IOException {
            if (!NAME.matcher(name).matches()) {
                throw new IllegalArgumentException("not a document of a run: " + name);
            }
            store(name, "application/json", bytes);
        }

        @Override
        public void mark(Mark now) throws IOException {
            if (!now.equals(mark)) {
                store(MARK, "text/plain", (now.attempt() + " " + now.seq() + " " + now.steps() + " " + now.sealed())
                        .getBytes(StandardCharsets.US_ASCII));
                mark = now;
            }
        }

        private void store(String name, String type, byte[] bytes) throws IOException {
            lock.requireHeld();
            PutObjectRequest.Builder request =
                    PutObjectRequest.builder().bucket(bucket).key(folder + name).contentType(type);
            S3Settings.Encryption encryption = settings.access().encryption();
            if (encryption != null) {
                request.serverSideEncryption(encryption.algorithm()).ssekmsKeyId(encryption.key());
            }
            try {
                client.putObject(request.build(), RequestBody.fromBytes(bytes));
            } catch (SdkException e) {
                throw StoreFailure.of(e);
            }
        }

        /** The status goes last: as long as it is not there, there is nothing in its place. */
        @Override
        public void shelve(int attempt) throws IOException {
            String shelf = folder + "attempts/" + attempt + "/";
            List<String> names = new ArrayList<>(keys(folder + "steps/"));
            names.addAll(keys(folder + "manifest.json"));
            names.addAll(keys(folder + "status.json"));
            for (String key : names) {
                lock.requireHeld();
                try {
                    client.copyObject(request -> encrypt(request.sourceBucket(bucket).sourceKey(key)
                            .destinationBucket(bucket).destinationKey(shelf + key.substring(folder.length()))));
                    client.deleteObject(request -> request.bucket(bucket).key(key));
                } catch (SdkException e) {
                    throw StoreFailure.of(e);
                }
            }
        }

        private void encrypt(CopyObjectRequest.Builder request) {
            S3Settings.Encryption encryption = settings.access().encryption();
            if (encryption != null) {
                request.serverSideEncryption(encryption.algorithm()).ssekmsKeyId(encryption.key());
            }
        }

        /** The mark goes last: until then a crash leaves an object of the run, which is found again. */
        @Override
        public void remove() throws IOException {
            List<String> keys = new ArrayList<>(keys(folder));
            keys.remove(folder + MARK);
            keys.add(folder + MARK);
            for (String key : keys) {
                lock.requireHeld();
                try {
                    client.deleteObject(request -> request.bucket(bucket).key(key));
                } catch (SdkException e) {
                    throw StoreFailure.of(e);
                }
            }
        }

        private List<String> keys(String prefix) throws IOException {
            try {
                return client.listObjectsV2Paginator(request -> request.bucket(bucket).prefix(prefix)).contents()
                        .stream()
                        .map(S3Object::key).toList();
            } catch (SdkException e) {
                throw StoreFailure.of(e);
            }
        }

        @Override
        public void close() throws IOException {
            lock.close();
        }
    }
}
