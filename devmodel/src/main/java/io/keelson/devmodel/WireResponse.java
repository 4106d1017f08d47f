package io.keelson.devmodel;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The response to one request, written at the pace that a script asks for. It sees at each pause whether the client is still
 * there, and can break off after a byte. For use by one thread.
 */
final class WireResponse {

    private static final byte[] LINE_END = {'\r', '\n'};

    /** The client has closed the connection. */
    static final class ClientGoneException extends IOException {
        private static final long serialVersionUID = 1L;

        ClientGoneException() {
            super("the client has closed the connection");
        }
    }

    /** The script breaks the connection here. */
    static final class CutException extends IOException {
        private static final long serialVersionUID = 1L;

        CutException() {
            super("cut by the script");
        }
    }

    private final Socket socket;
    private final BufferedInputStream in;
    private final OutputStream out;
    private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private long cutAfter = Long.MAX_VALUE;
    private boolean chunked;
    private long sent;

    WireResponse(Socket socket, BufferedInputStream in, OutputStream out) {
        this.socket = socket;
        this.in = in;
        this.out = out;
    }

    void header(String name, String value) {
        headers.put(name, value);
    }

    /** Breaks off after that many bytes of the body. */
    void cutAfter(long bytes) {
        cutAfter = bytes;
    }

    /** Bytes of the body that were written. */
    long sent() {
        return sent;
    }

    /**
     * Waits, at least long enough to see a client that has closed the connection.
     *
     * @throws ClientGoneException at once where the client closes the connection
     */
    void pause(Duration time) throws IOException {
        long end = System.nanoTime() + time.toNanos();
        do {
            socket.setSoTimeout((int) Math.clamp((end - System.nanoTime()) / 1_000_000, 1, Integer.MAX_VALUE));
            in.mark(1);
            try {
                if (in.read() < 0) {
                    throw new ClientGoneException();
                }
                in.reset();
                // the next request is here already: the client is there, and cannot be watched without reading it
                LockSupport.parkNanos(end - System.nanoTime());
            } catch (SocketTimeoutException e) {
                // the time is over, and the client is still there
            } finally {
                socket.setSoTimeout(0);
            }
        } while (System.nanoTime() < end);
    }

    /** @param length bytes of the body, negative where its end is only known when it is there */
    void begin(int status, String contentType, long length) throws IOException {
        chunked = length < 0;
        header("Content-Type", contentType);
        header(chunked ? "Transfer-Encoding" : "Content-Length", chunked ? "chunked" : Long.toString(length));
        StringBuilder head =
                new StringBuilder("HTTP/1.1 ").append(status).append(status < 400 ? " OK\r\n" : " Error\r\n");
        headers.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        out.write(head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
        out.flush();
        if (cutAfter == 0) {
            throw new CutException();
        }
    }

    /** @throws CutException after the byte at which the script breaks off */
    void write(byte[] bytes) throws IOException {
        int part = (int) Math.min(bytes.length, cutAfter - sent);
        if (part > 0) {
            if (chunked) {
                out.write((Integer.toHexString(part) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            }
            out.write(bytes, 0, part);
            if (chunked) {
                out.write(LINE_END);
            }
            out.flush();
            sent += part;
        }
        if (sent == cutAfter) {
            throw new CutException();
        }
    }

    void end() throws IOException {
        if (chunked) {
            out.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            out.flush();
        }
    }

    /** Answers with a whole body. */
    void send(int status, String contentType, byte[] body) throws IOException {
        begin(status, contentType, body.length);
        write(body);
        end();
    }

    /** Makes the end of the connection a reset instead of a close. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
    }
}
