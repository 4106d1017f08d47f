package io.keelson.server.annex.mcp;

import io.keelson.server.annex.mcp.McpDefinition.ClientCredentials;
import io.keelson.server.annex.mcp.wire.AccessTokens;
import io.keelson.server.annex.mcp.wire.McpClient;
import io.keelson.server.annex.mcp.wire.McpException;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.tenant.secret.Redaction;
import io.keelson.server.tenant.secret.SecretException;
import io.keelson.server.tenant.secret.SecretStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This node's connections, one for each server of a workspace: begun at first use, ended after five minutes without one, and
 * begun again with growing delays. Processes end with this node, also when it is killed.
 */
final class McpConnections implements AutoCloseable {
    private static final Duration IDLE = Duration.ofMinutes(5);
    private static final Duration CONNECT = Duration.ofSeconds(20);
    /** For a program that may have to be downloaded first. */
    private static final Duration START = Duration.ofSeconds(60);
    private static final long FIRST_DELAY = Duration.ofSeconds(1).toNanos();
    private static final int MAX_DOUBLINGS = 6;
    private static final int MAX_LOG_LINES = 200;
    /** Among texts with secrets; no header has this name. */
    private static final String CLIENT_SECRET = " client secret";

    private record Key(UUID workspace, String server) {}

    /** A use of a connection, to be closed. */
    record Use(Connection connection, boolean fresh) implements AutoCloseable {
        McpClient client() {
            return connection.client;
        }

        /** Redacts the secrets that the connection was made with, and its tokens. */
        Redaction redaction() {
            return redaction(connection.redaction, connection.tokens);
        }

        private static Redaction redaction(Redaction redaction, @Nullable AccessTokens tokens) {
            return tokens == null ? redaction : redaction.and(tokens.issued());
        }

        @Override
        public void close() {
            connection.release();
        }
    }

    /** A client and its users. A retired client ends with its last user, so that no call is lost. */
    final class Connection {
        private final McpClient client;
        private final Redaction redaction;
        private final @Nullable AccessTokens tokens;
        private final int revision;
        private int users = 1;
        private long usedAt;
        private boolean retired;

        private Connection(McpClient client, Redaction redaction, @Nullable AccessTokens tokens, int revision) {
            this.tokens = tokens;
            this.client = client;
            this.redaction = redaction;
            this.revision = revision;
            open.add(this);
        }

        private void close() {
            client.close();
            open.remove(this);
        }

        /** False when another one is needed. */
        private synchronized boolean taken(int wanted) {
            if (retired || revision != wanted || !client.usable()) {
                return false;
            }
            users++;
            return true;
        }

        private void release() {
            boolean last;
            synchronized (this) {
                users--;
                usedAt = nanos.getAsLong();
                last = retired && users == 0;
            }
            if (last) {
                close();
            }
        }

        private void retire() {
            boolean unused;
            synchronized (this) {
                unused = !retired && users == 0;
                retired = true;
            }
            if (unused || !client.usable()) {
                close();
            }
        }

        private synchronized boolean idle() {
            return users == 0 && nanos.getAsLong() - usedAt > IDLE.toNanos();
        }
    }

    /** One server's connection and its log. */
    private final class Entry {
        /** Held while a connection begins. */
        private final ReentrantLock beginning = new ReentrantLock();
        private final Deque<String> log = new ArrayDeque<>();
        private volatile @Nullable Connection current;
        private volatile Redaction redaction = Redaction.NONE;
        private volatile boolean forgotten;
        private int revision;
        private int failures;
        private long notBefore;

        private synchronized void line(String line) {
            log.add(redaction.text(line));
            if (log.size() > MAX_LOG_LINES) {
                log.removeFirst();
            }
        }

        private synchronized List<String> lines() {
            return new ArrayList<>(log);
        }

        private Use use(McpServerRow server) throws McpException, InterruptedException {
            Connection known = current;
            if (known != null && known.taken(server.revision())) {
                return new Use(known, false);
            }
            beginning.lockInterruptibly();
            try {
                Connection other = current;
                if (other != null && other.taken(server.revision())) {
                    return new Use(other, false);
                }
                retire();
                Connection begun = begun(server);
                current = begun;
                if (closed || forgotten) {
                    retire();
                }
                return new Use(begun, true);
            } finally {
                beginning.unlock();
            }
        }

        private Connection begun(McpServerRow server) throws McpException, InterruptedException {
            long left = notBefore - nanos.getAsLong();
            if (failures > 0 && left > 0 && revision == server.revision()) {
                throw McpException.backingOff(Duration.ofNanos(left), "the server could not be started or reached "
                        + failures + " times in a row, and is tried again in " + Duration.ofNanos(left).toSeconds()
                        + " s");
            }
            if (closed) {
                throw McpException.unreachable("this server is shutting down");
            }
            revision = server.revision();
            try {
                Connection begun = connect(server, this);
                failures = 0;
                return begun;
            } catch (McpException e) {
                notBefore = nanos.getAsLong() + (FIRST_DELAY << Math.min(failures, MAX_DOUBLINGS));
                failures++;
                throw e;
            }
        }

        private void retire() {
            Connection known = current;
            if (known != null) {
                current = null;
                known.retire();
            }
        }

        private void retireIdle() {
            Connection known = current;
            if (known != null && known.idle()) {
                retire();
            }
        }
    }

    private final Map<Key, Entry> entries = new ConcurrentHashMap<>();
    /** All connections that have not ended, also retired ones. */
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private final McpCommands commands;
    private final OutboundClient outbound;
    private final SecretStore secrets;
    private final Path folder;
    private final String version;
    private final LongSupplier nanos;
    private volatile boolean closed;

    /** @param folder where processes start */
    McpConnections(McpCommands commands, OutboundClient outbound, SecretStore secrets, Path folder, String version,
            LongSupplier nanos) {
        this.commands = commands;
        this.outbound = outbound;
        this.secrets = secrets;
        this.folder = folder;
        this.version = version;
        this.nanos = nanos;
    }

    Use use(McpServerRow server) throws McpException, InterruptedException {
        return entries.computeIfAbsent(new Key(server.workspaceId(), server.name()), key -> new Entry()).use(server);
    }

    /** The last lines that the server wrote to its standard error on this node. */
    List<String> log(UUID workspace, String server) {
        Entry found = entries.get(new Key(workspace, server));
        return found == null ? List.of() : found.lines();
    }

    /** The next use begins a new connection; the present one ends with its last user. */
    void drop(UUID workspace, String server) {
        Entry found = entries.get(new Key(workspace, server));
        if (found != null) {
            found.retire();
        }
    }

    /** Forgets a server that the workspace has no more. */
    void forget(UUID workspace, String server) {
        Entry found = entries.remove(new Key(workspace, server));
        if (found != null) {
            found.forgotten = true;
            found.retire();
        }
    }

    /** Ends connections that were not used for five minutes. */
    void dropIdle() {
        entries.values().forEach(Entry::retireIdle);
    }

    private Connection connect(McpServerRow server, Entry entry) throws McpException, InterruptedException {
        @Nullable AccessTokens tokens = null;
        try {
            McpDefinition definition = server.definition();
            String url = definition.url();
            if (url == null) {
                return new Connection(process(server, entry), entry.redaction, null, server.revision());
            }
            ClientCredentials auth = definition.auth();
            Map<String, String> texts = new TreeMap<>(definition.headers());
            if (definition.bearer() != null) {
                texts.put("Authorization", "Bearer " + definition.bearer());
            }
            if (auth != null) {
                texts.put(CLIENT_SECRET, auth.clientSecret());
            }
            Map<String, String> headers = opened(server.workspaceId(), texts, entry);
            if (auth != null) {
                tokens = new AccessTokens(outbound, new AccessTokens.Client(auth.tokenUrl(), auth.clientId(),
                        String.valueOf(headers.remove(CLIENT_SECRET)), url, auth.scope()), nanos);
            }
            return new Connection(McpClient.ofUrl(outbound, url, headers, tokens, version, CONNECT), entry.redaction,
                    tokens, server.revision());
        } catch (SecretException e) {
            throw McpException.unreachable(e.code() + ": " + e.getMessage());
        } catch (McpException e) {
            throw e.saying(Use.redaction(entry.redaction, tokens).text(String.valueOf(e.getMessage())));
        }
    }

    private McpClient process(McpServerRow server, Entry entry) throws McpException, InterruptedException {
        String name = String.valueOf(server.definition().command());
        McpCommands.Command command = commands.find(name).orElseThrow(
                () -> McpException.unreachable(commands.missing(name)));
        return McpClient.ofCommand(command.line(), folder,
                opened(server.workspaceId(), command.environment(), entry), entry::line, version, START);
    }

    private Map<String, String> opened(UUID workspace, Map<String, String> texts, Entry entry) {
        Collection<String> values = texts.values();
        SecretStore.Opened opened = secrets.open(workspace, McpSecrets.names(values));
        entry.redaction = opened.redaction();
        return McpSecrets.opened(texts, opened);
    }

    /** Ends all connections, also used ones, within five seconds. */
    @Override
    public void close() {
        closed = true;
        List<Thread> closing = open.stream().map(each -> Thread.ofVirtual().start(each::close)).toList();
        for (Thread each : closing) {
            try {
                each.join(Duration.ofSeconds(5));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
