package io.keelson.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body of an answer, read while it arrives. A read fails with {@link HttpTimeoutException} if no byte arrives for a
 * time. For one reader; another thread may close it, which ends a read.
 */
final class AnswerBody extends InputStream implements BodySubscriber<InputStream> {

    /** @param failure null for a part, and at the end */
    private record Part(List<ByteBuffer> bytes, boolean last, @Nullable IOException failure) {}

    private final Duration silence;
    private final BlockingQueue<Part> parts = new LinkedBlockingQueue<>();
    private final Queue<ByteBuffer> present = new ArrayDeque<>();
    private Flow.@Nullable Subscription subscription;
    private volatile boolean closed;
    private boolean ended;

    /** @param silence how long a read waits for the next byte */
    AnswerBody(Duration silence) {
        this.silence = silence;
    }

    @Override
    public CompletionStage<InputStream> getBody() {
        return CompletableFuture.completedFuture(this);
    }

    @Override
    public synchronized void onSubscribe(Flow.Subscription connection) {
        subscription = connection;
        if (closed) {
            connection.cancel();
        } else {
            connection.request(1);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> bytes) {
        parts.add(new Part(bytes, false, null));
    }

    @Override
    public void onError(Throwable failure) {
        parts.add(new Part(List.of(), true,
                failure instanceof IOException e ? e : new IOException(failure.toString(), failure)));
    }

    @Override
    public void onComplete() {
        parts.add(new Part(List.of(), true, null));
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int most) throws IOException {
        if (most == 0) {
            return 0;
        }
        ByteBuffer next = next();
        if (next == null) {
            return -1;
        }
        int count = Math.min(most, next.remaining());
        next.get(into, from, count);
        return count;
    }

    /** Bytes that are not read yet; null at the end. */
    private @Nullable ByteBuffer next() throws IOException {
        while (!closed && !ended) {
            ByteBuffer first = present.peek();
            if (first == null) {
                take();
            } else if (first.hasRemaining()) {
                return first;
            } else {
                present.remove();
                if (present.isEmpty()) {
                    request();
                }
            }
        }
        if (closed) {
            throw new IOException("closed");
        }
        return null;
    }

    private void take() throws IOException {
        try {
            Part part = parts.poll(silence.toNanos(), TimeUnit.NANOSECONDS);
            if (part == null) {
                throw new HttpTimeoutException("no byte within " + silence);
            }
            ended = part.last();
            if (part.failure() != null) {
                throw new IOException(part.failure().getMessage(), part.failure());
            }
            present.addAll(part.bytes());
            if (!ended && present.isEmpty()) {
                request();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    private synchronized void request() {
        if (subscription != null) {
            subscription.request(1);
        }
    }

    /** Ends the connection, unless the whole body has arrived. */
    @Override
    public void close() {
        Flow.Subscription connection;
        synchronized (this) {
            closed = true;
            connection = subscription;
        }
        if (connection != null) {
            connection.cancel();
        }
        parts.add(new Part(List.of(), true, null));
    }
}
