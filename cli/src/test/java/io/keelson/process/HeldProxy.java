package io.keelson.process;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Proxies HTTP. Connections of clients last, as those of the server do: some clients take an answer on a connection that is announced to
 * close for whole wherever it ends. Requests and answers are held at points until they are released.
 */
final class HeldProxy implements AutoCloseable {
    private static final int BACKLOG = 3_000;
    /** The end of a killed process is at its connections at once. */
    private static final int CLOSED_MILLIS = 100;
    private static final int MAX_MARK = 256;
    private static final String EVENT_END = "\n\n";
    private static final String HEAD_END = "\r\n\r\n";
    private static final String LAST_CHUNK = "\r\n0\r\n\r\n";
    private static final Pattern LENGTH = Pattern.compile("(?im)^content-length: *(\\d+)");
    private static final Pattern BODILESS = Pattern.compile("^HTTP/1.1 (204|304) ");

    private final ServerSocket door = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    private final Address server;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final List<Hold> holds = new CopyOnWriteArrayList<>();
    private final List<Exchange> exchanges = new CopyOnWriteArrayList<>();

    /** Where the server is now. */
    interface Address {
        /** @throws IOException if no server is ready */
        URI get() throws IOException;
    }

    /**
     * A request that was passed on.
     *
     * @param request with its head
     * @param head of the answer; empty if absent
     */
    record Exchange(String request, String head) {}

    /** A point at which a request or an answer is held. */
    static final class Hold {
        private final String line;
        private final String key;
        private final int number;
        private final @Nullable Pattern mark;
        private final boolean marksPass;
        private final AtomicInteger seen = new AtomicInteger();
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        private Hold(String line, String key, int number, @Nullable Pattern mark, boolean marksPass) {
            this.line = line;
            this.key = key;
            this.number = number;
            this.mark = mark;
            this.marksPass = marksPass;
        }

        private boolean takes(String request) {
            return request.startsWith("POST ") && request.substring(0, request.indexOf('\r')).contains(line)
                    && request.contains(key) && released.getCount() > 0
                    && (seen.incrementAndGet() == number || number == 0);
        }

        private void hold() {
            reached.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        boolean reachedWithin(Duration time) throws InterruptedException {
            return reached.await(time.toMillis(), TimeUnit.MILLISECONDS);
        }

        void release() {
            released.countDown();
        }
    }

    /** @param server asked for each connection */
    HeldProxy(Address server) throws IOException {
        this.server = server;
        Thread.ofVirtual().start(this::accept);
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + door.getLocalPort());
    }

    /**
     * Holds a request before it is passed on.
     *
     * @param line part of the request's first line
     * @param key part of the request
     * @param number of the request among those with line and key, from 1; 0 for all until the release
     */
    Hold request(String line, String key, int number) {
        return add(new Hold(line, key, number, null, false));
    }

    /** Holds the answer to a request before the mark is passed on. */
    Hold before(String line, String key, int number, Pattern mark) {
        return add(new Hold(line, key, number, mark, false));
    }

    /** Holds the answer to a request when the event with the mark is passed on. */
    Hold after(String line, String key, int number, Pattern mark) {
        return add(new Hold(line, key, number, mark, true));
    }

    private Hold add(Hold hold) {
        holds.add(hold);
        return hold;
    }

    /** All requests that were passed on and contain the text. */
    List<Exchange> exchanges(String text) {
        return exchanges.stream().filter(each -> each.request.contains(text)).toList();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = door.accept();
                open.add(client);
                Thread.ofVirtual().start(() -> serve(client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(client.getInputStream());
            byte[] request = read(in);
            CompletableFuture<Integer> next = new CompletableFuture<>();
            while (request.length > 0 && pass(client, in, request, next)) {
                int first = next.join();
                next = new CompletableFuture<>();
                request = first < 0 ? new byte[0]
                        : read(new SequenceInputStream(new ByteArrayInputStream(new byte[] {(byte) first}), in));
            }
        } catch (IOException e) {
            // no such server, or one of the two has hung up
        } finally {
            open.remove(client);
        }
    }

    /**
     * Passes a request on. Returns whether its answer has come to its end.
     *
     * @param next completed with the first byte that the client sends after the request, or with -1 at the client's end
     */
    private boolean pass(Socket client, InputStream in, byte[] request, CompletableFuture<Integer> next)
            throws IOException {
        String text = new String(request, StandardCharsets.ISO_8859_1);
        Hold found = null;
        for (Hold each : holds) {
            found = each.takes(text) && found == null ? each : found;
        }
        if (found != null && found.mark == null) {
            found.hold();
            if (hasHungUp(client, in)) {
                return false;
            }
        }
        URI to = server.get();
        StringBuilder answer = new StringBuilder();
        try (Socket node = new Socket(to.getHost(), to.getPort())) {
            node.setTcpNoDelay(true);
            open.add(node);
            Thread.ofVirtual().start(() -> watch(in, node, next));
            node.getOutputStream().write(request);
            boolean whole = copy(node, client.getOutputStream(), found == null || found.mark == null ? null : found,
                    answer, text.startsWith("HEAD "));
            open.remove(node);
            return whole;
        } finally {
            int end = answer.indexOf(HEAD_END);
            exchanges.add(new Exchange(text, end < 0 ? "" : answer.substring(0, end)));
        }
    }

    /** Whether the end of a client that was killed is here. */
    private static boolean hasHungUp(Socket client, InputStream in) throws IOException {
        client.setSoTimeout(CLOSED_MILLIS);
        try {
            return in.read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } finally {
            client.setSoTimeout(0);
        }
    }

    /** Hangs up when the client has. Nothing but a further request comes from it. */
    private static void watch(InputStream client, Socket node, CompletableFuture<Integer> next) {
        int first;
        try {
            first = client.read();
        } catch (IOException e) {
            first = -1;
        }
        if (first < 0) {
            try {
                node.close();
            } catch (IOException e) {
                // the server is gone, too
            }
        }
        next.complete(first);
    }

    /** Finds the end of an answer. */
    private static final class AnswerEnd {
        private final StringBuilder head = new StringBuilder();
        private final boolean bodiless;
        private String tail = "\r\n";
        private long length;

        /** @param bodiless whether the request is one of the head only */
        AnswerEnd(boolean bodiless) {
            this.bodiless = bodiless;
        }

        /** Whether the answer ends with these bytes. */
        boolean isReached(String bytes) {
            String body = bytes;
            if (head.indexOf(HEAD_END) < 0) {
                head.append(bytes);
                int end = head.indexOf(HEAD_END);
                if (end < 0) {
                    return false;
                }
                body = head.substring(end + HEAD_END.length());
                head.setLength(end + HEAD_END.length());
            }
            length += body.length();
            tail += body;
            tail = tail.substring(Math.max(0, tail.length() - LAST_CHUNK.length()));
            Matcher declared = LENGTH.matcher(head);
            return bodiless || BODILESS.matcher(head).find()
                    || (declared.find() ? length >= Long.parseLong(declared.group(1)) : tail.equals(LAST_CHUNK));
        }
    }

    /** Returns whether the answer has come to its end. */
    private static boolean copy(Socket node, OutputStream out, @Nullable Hold hold, StringBuilder answer,
            boolean bodiless) throws IOException {
        InputStream in = node.getInputStream();
        byte[] bytes = new byte[8192];
        AnswerEnd end = new AnswerEnd(bodiless);
        boolean held = hold != null;
        int start = -1;
        for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
            int before = answer.length();
            if (held || answer.indexOf(HEAD_END) < 0) {
                answer.append(new String(bytes, 0, read, StandardCharsets.ISO_8859_1));
            }
            int passed = 0;
            if (held && hold != null && hold.mark != null) {
                Matcher mark = hold.mark.matcher(answer);
                start = start < 0 && mark.find(Math.max(0, before - MAX_MARK)) ? mark.start() : start;
                int at = start < 0 || !hold.marksPass ? start : answer.indexOf(EVENT_END, start);
                if (at >= 0) {
                    int cut = hold.marksPass ? at + EVENT_END.length() : at;
                    int to = Math.clamp((long) cut - before, passed, read);
                    out.write(bytes, passed, to - passed);
                    passed = to;
                    hold.hold();
                    held = false;
                }
            }
            out.write(bytes, passed, read - passed);
            if (end.isReached(new String(bytes, 0, read, StandardCharsets.ISO_8859_1))) {
                return true;
            }
        }
        return false;
    }

    /** A request without the client's word on its connection; empty if the client has hung up. */
    private static byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith(HEAD_END)) {
            int next = in.read();
            if (next < 0) {
                return new byte[0];
            }
            head.write(next);
        }
        String text = head.toString(StandardCharsets.ISO_8859_1);
        Matcher length = LENGTH.matcher(text);
        if (text.toLowerCase(Locale.ROOT).contains("transfer-encoding:")) {
            throw new IOException("a request in chunks");
        }
        byte[] body = in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
        String kept = text.replaceAll("(?im)^(connection|upgrade|http2-settings):.*\r\n", "");
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.write(kept.getBytes(StandardCharsets.ISO_8859_1));
        whole.write(body);
        return whole.toByteArray();
    }

    @Override
    public void close() throws IOException {
        holds.forEach(Hold::release);
        door.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
