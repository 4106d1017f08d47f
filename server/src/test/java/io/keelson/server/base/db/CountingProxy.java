package io.keelson.server.base.db;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Proxies the connections of a {@link Database} to PostgreSQL and records every executed statement, including the empty
 * one with which a pool checks a connection and which PostgreSQL's statistics omit. It can cut a connection at a COMMIT.
 */
public final class CountingProxy implements AutoCloseable {
    private static final int STARTUP_MESSAGE = 196_608;
    private static final String COMMIT = "commit";
    /** A statement that changes rows; one that only calls a function that does so is missed. */
    private static final Pattern CHANGE =
            Pattern.compile(
                    "(?is)\\s*(insert|update|delete|merge)\\s.*|\\s*with\\s.*\\b(insert into|update|delete from|merge into)\\s.*");

    /** Which part of a COMMIT is lost with its connection. */
    public enum Loss {
        REQUEST, ANSWER
    }

    /**
     * @param passed how many matching transactions pass first
     * @param alone whether a changing statement outside of a transaction counts, which PostgreSQL commits by itself
     * @param then runs at the cut, before the client notices it
     */
    private record Trap(Loss loss, Write write, AtomicInteger passed, boolean alone, Runnable then) {}

    /**
     * What a transaction must have executed.
     *
     * @param statement a piece of its text
     * @param value a part of its values; empty for any values
     */
    public record Write(String statement, String value) {

        private boolean isIn(Write executed) {
            return executed.statement.contains(statement) && executed.value.contains(value);
        }
    }

    private final DatabaseUrl target;
    private final ServerSocket door;
    private final List<String> executed = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger messages = new AtomicInteger();
    private final AtomicInteger commits = new AtomicInteger();
    private final AtomicReference<@Nullable Trap> trap = new AtomicReference<>();

    public CountingProxy(DatabaseUrl target) throws IOException {
        this.target = target;
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    /** The way through this proxy. */
    public DatabaseUrl url() {
        return new DatabaseUrl("127.0.0.1:" + door.getLocalPort(), target.database(), target.user(),
                target.password(), target.parameters());
    }

    /** The text of each statement executed so far, in order. */
    public List<String> executed() {
        synchronized (executed) {
            return List.copyOf(executed);
        }
    }

    /**
     * The number of round trips so far. Messages in which the driver closes collected statements do not count: their time
     * depends on the garbage collector.
     */
    public int messages() {
        return messages.get();
    }

    /** Cuts, once, the connection that commits a transaction with a statement that contains that text. */
    public void lose(Loss loss, String statement) {
        lose(loss, new Write(statement, ""), 0, () -> {
        });
    }

    /**
     * Does the same after some matching transactions have passed.
     *
     * @param then runs when the proxy has the request and PostgreSQL has not, or when it has the answer and the client has not
     */
    public void lose(Loss loss, Write write, int letThrough, Runnable then) {
        trap.set(new Trap(loss, write, new AtomicInteger(letThrough), false, then));
    }

    /** Cuts, once, the connection with a commit of any kind, after others have passed: of a transaction, or of one statement alone. */
    public void loseCommit(Loss loss, int letThrough, Runnable then) {
        trap.set(new Trap(loss, new Write("", ""), new AtomicInteger(letThrough), true, then));
    }

    /** The number of commits of any kind so far. */
    public int commits() {
        return commits.get();
    }

    /** Nothing is to be lost any more. */
    public void spare() {
        trap.set(null);
    }

    /** Whether a connection has been lost as asked for. */
    public boolean lost() {
        return trap.get() == null;
    }

    private void accept() {
        String[] address = target.hosts().split(":");
        try {
            while (true) {
                Socket client = door.accept();
                Socket server = new Socket(address[0], Integer.parseInt(address[1]));
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                AtomicReference<@Nullable Trap> mute = new AtomicReference<>();
                Thread.ofVirtual().start(() -> carry(client, server, (from, to) -> requests(from, to, mute)));
                Thread.ofVirtual().start(() -> carry(server, client, (from, to) -> answers(from, to, mute)));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private interface Way {
        void go(DataInputStream from, DataOutputStream to) throws IOException;
    }

    private static void carry(Socket from, Socket to, Way way) {
        try (from; to) {
            way.go(new DataInputStream(new BufferedInputStream(from.getInputStream())),
                    new DataOutputStream(to.getOutputStream()));
        } catch (IOException e) {
            // one of the two has hung up
        }
    }

    private static void answers(DataInputStream from, DataOutputStream to, AtomicReference<@Nullable Trap> mute)
            throws IOException {
        byte[] bytes = new byte[8192];
        for (int read = from.read(bytes); read >= 0 && mute.get() == null; read = from.read(bytes)) {
            to.write(bytes, 0, read);
        }
        Trap sprung = mute.get();
        if (sprung != null) {
            sprung.then.run();
        }
    }

    /** What a client says: first messages without a type, then those that PostgreSQL's protocol lists. */
    private void requests(DataInputStream from, DataOutputStream to, AtomicReference<@Nullable Trap> mute)
            throws IOException {
        int code;
        do {
            byte[] body = body(from);
            code = ByteBuffer.wrap(body).getInt();
            pass(body, to);
        } while (code != STARTUP_MESSAGE);
        Map<String, String> statements = new HashMap<>();
        Map<String, Write> portals = new HashMap<>();
        List<Write> together = new ArrayList<>();
        boolean asked = false;
        boolean goesOn = false;
        while (true) {
            char type = (char) from.readByte();
            byte[] body = body(from);
            String[] texts = new String(body, StandardCharsets.ISO_8859_1).split("\0", 3);
            switch (type) {
                case 'P' -> statements.put(texts[0], texts[1]);
                case 'B' -> portals.put(texts[0], new Write(statements.get(texts[1]), texts[2]));
                case 'E' -> {
                    together.add(portals.get(texts[0]));
                    executed.add(together.getLast().statement);
                    goesOn = goesOn(goesOn, together.getLast().statement);
                    Trap sprung = sprung(together, goesOn);
                    if (sprung != null && sprung.loss == Loss.REQUEST) {
                        sprung.then.run();
                        return;
                    }
                    mute.compareAndSet(null, sprung);
                }
                case 'Q' -> {
                    together.add(new Write(texts[0], ""));
                    executed.add(texts[0]);
                    messages.getAndIncrement();
                    goesOn = goesOn(goesOn, texts[0]);
                    Trap sprung = sprung(together, goesOn);
                    if (sprung != null && sprung.loss == Loss.REQUEST) {
                        sprung.then.run();
                        return;
                    }
                    mute.compareAndSet(null, sprung);
                    if (!goesOn) {
                        together.clear();
                    }
                }
                case 'S' -> {
                    if (!goesOn) {
                        together.clear();
                    }
                    messages.getAndAdd(asked ? 1 : 0);
                }
                default -> {
                }
            }
            asked = type != 'S' && type != 'Q' && (asked || type != 'C');
            to.write(ByteBuffer.allocate(1 + Integer.BYTES + body.length).put((byte) type)
                    .putInt(body.length + Integer.BYTES).put(body).array());
        }
    }

    /** Whether there is a transaction after the statement. */
    private static boolean goesOn(boolean before, String statement) {
        return switch (statement.strip().toLowerCase(Locale.ROOT)) {
            case "begin" -> true;
            case COMMIT, "rollback" -> false;
            default -> before;
        };
    }

    /** The trap, when these statements of one transaction spring it. */
    private @Nullable Trap sprung(List<Write> together, boolean goesOn) {
        String last = together.getLast().statement;
        boolean commit = last.strip().equalsIgnoreCase(COMMIT);
        boolean alone = !goesOn && CHANGE.matcher(last).matches();
        if (commit || alone) {
            commits.incrementAndGet();
        }
        Trap set = trap.get();
        boolean springs = set != null && (commit || alone && set.alone) && together.stream().anyMatch(set.write::isIn);
        return springs && set.passed.getAndDecrement() <= 0 && trap.compareAndSet(set, null) ? set : null;
    }

    private static byte[] body(DataInputStream from) throws IOException {
        return from.readNBytes(from.readInt() - Integer.BYTES);
    }

    private static void pass(byte[] body, DataOutputStream to) throws IOException {
        to.write(ByteBuffer.allocate(Integer.BYTES + body.length).putInt(body.length + Integer.BYTES).put(body)
                .array());
    }

    @Override
    public void close() throws IOException {
        door.close();
    }
}
