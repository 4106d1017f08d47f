package io.keelson.server.annex.s3;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** Content of an object from a byte on. After a lost connection it continues with a request for the other bytes. */
final class ResumedContent extends InputStream {

    /** Maximum requests in a row without a byte. */
    private static final int MAX_TRIES = 5;

    private final S3Client client;
    private final String bucket;
    private final String key;
    private final long end;
    private long position;
    private @Nullable ResponseInputStream<GetObjectResponse> response;
    private int tries;

    /** @throws java.nio.file.NoSuchFileException for an absent key */
    ResumedContent(S3Client client, String bucket, String key, long from) throws IOException {
        this.client = client;
        this.bucket = bucket;
        this.key = key;
        this.position = from;
        ResponseInputStream<GetObjectResponse> first = request();
        this.response = first;
        this.end = from + first.response().contentLength();
    }

    private ResponseInputStream<GetObjectResponse> request() throws IOException {
        long from = position;
        try {
            return client.getObject(request -> request.bucket(bucket).key(key)
                    .range(from == 0 ? null : "bytes=" + from + "-"));
        } catch (SdkException e) {
            throw StoreFailure.of(e, key);
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (position < end) {
            try {
                ResponseInputStream<GetObjectResponse> current = response == null ? request() : response;
                response = current;
                int read = current.read(bytes, offset, (int) Math.min(length, end - position));
                if (read > 0) {
                    position += read;
                    tries = 0;
                    return read;
                }
                lose(new IOException("the store closed the connection after " + position + " of " + end + " bytes"));
            } catch (SdkException e) {
                lose(StoreFailure.of(e, key));
            } catch (IOException e) {
                lose(e);
            }
        }
        return -1;
    }

    private void lose(IOException failure) throws IOException {
        abort();
        if (++tries >= MAX_TRIES || Thread.currentThread().isInterrupted()) {
            throw failure;
        }
    }

    private void abort() {
        if (response != null) {
            response.abort();
            response = null;
        }
    }

    /** Does not read the rest. */
    @Override
    public void close() throws IOException {
        if (position >= end && response != null) {
            response.close();
            response = null;
        }
        abort();
    }
}
