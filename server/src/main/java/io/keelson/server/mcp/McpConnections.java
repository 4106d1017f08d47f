package io.keelson.server.mcp;

import io.keelson.server.mcp.wire.McpClient;
import io.keelson.server.mcp.wire.McpException;
import io.keelson.server.outbound.OutboundClient;
import io.keelson.server.secret.Redaction;
import io.keelson.server.secret.SecretException;
import io.keelson.server.secret.SecretStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
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
    private static final long FIRST_DELAY = Duration.ofSeconds(1).toNanos();
    private static final int MAX_DOUBLINGS = 6;
    private static final int MAX_LOG_LINES = 200;

    private record Key(UUID workspace, String server) {}

    /** A use of a connection, to be closed. */
    record Use(McpClient client, Redaction struck, boolean fresh, Entry entry) implements AutoCloseable {
        @Override
        public void close() {
            entry.release();
        }
    }

    /** One server's connection and its log. */
    final class Entry {
        private final ReentrantLock lock = new ReentrantLock();
        private final Deque<String> log = new ArrayDeque<>();
        private @Nullable McpClient client;
        private Redaction struck = Redaction.NONE;
        private int revision;
        private int failures;
        private long notBefore;
        private long usedAt;
        private int users;

        private synchronized void line(String line) {
            log.add(struck.text(line));
            if (log.size() > MAX_LOG_LINES) {
                log.removeFirst();
            }
        }

        private synchronized List<String> lines() {
            return new ArrayList<>(log);
        }

        private void release() {
            lock.lock();
            try {
                users--;
                usedAt = nanos.getAsLong();
            } finally {
                lock.unlock();
            }
        }

        private Use use(McpServerRow server) throws McpException, InterruptedException {
            lock.lockInterruptibly();
            try {
                McpClient known = client;
                if (known != null && known.usable() && revision == server.revision()) {
                    users++;
                    return new Use(known, struck, false, this);
                }
                if (known != null) {
                    known.close();
                    client = null;
                }
                McpClient begun = begun(server);
                users++;
                return new Use(begun, struck, true, this);
            } finally {
                lock.unlock();
            }
        }

        private McpClient begun(McpServerRow server) throws McpException, InterruptedException {
            long left = notBefore - nanos.getAsLong();
            if (failures > 0 && left > 0 && revision == server.revision()) {
                throw McpException.unreachable("the server could not be started or reached " + failures
                        + " times in a row, and is tried again in " + Duration.ofNanos(left).toSeconds() + " s");
            }
            revision = server.revision();
            boolean done = false;
            try {
                McpClient begun = connect(server, this);
                client = begun;
                failures = 0;
                done = true;
                return begun;
            } finally {
                if (!done) {
                    notBefore = nanos.getAsLong() + (FIRST_DELAY << Math.min(failures, MAX_DOUBLINGS));
                    failures++;
                }
            }
        }

        private void drop(boolean onlyIdle) {
            lock.lock();
            try {
                McpClient known = client;
                boolean idle = users == 0 && nanos.getAsLong() - usedAt > IDLE.toNanos();
                if (known != null && (!onlyIdle || idle)) {
                    client = null;
                    known.close();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private final Map<Key, Entry> entries = new ConcurrentHashMap<>();
    private final McpCommands commands;
    private final OutboundClient outbound;
    private final SecretStore secrets;
    private final Path folder;
    private final String version;
    private final LongSupplier nanos;

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
        return entry(server.workspaceId(), server.name()).use(server);
    }

    private Entry entry(UUID workspace, String server) {
        return entries.computeIfAbsent(new Key(workspace, server), key -> new Entry());
    }

    /** The last lines that the server wrote to its standard error on this node. */
    List<String> log(UUID workspace, String server) {
        return entry(workspace, server).lines();
    }

    /** The next use begins a new connection. */
    void drop(UUID workspace, String server) {
        Entry found = entries.get(new Key(workspace, server));
        if (found != null) {
            found.drop(false);
        }
    }

    /** Ends connections that were not used for five minutes. */
    void dropIdle() {
        entries.values().forEach(entry -> entry.drop(true));
    }

    private McpClient connect(McpServerRow server, Entry entry) throws McpException, InterruptedException {
        McpDefinition definition = server.definition();
        String url = definition.url();
        try {
            if (url != null) {
                Map<String, String> headers = new TreeMap<>(definition.headers());
                if (definition.bearer() != null) {
                    headers.put("Authorization", "Bearer " + definition.bearer());
                }
                return McpClient.ofUrl(outbound, url, opened(server.workspaceId(), headers, entry), version, CONNECT);
            }
            McpCommands.Command command = commands.find(String.valueOf(definition.command()))
                    .orElseThrow(() -> McpException.unreachable("the operator's file has no command '"
                            + definition.command() + "'"));
            return McpClient.ofCommand(command.line(), folder,
                    opened(server.workspaceId(), command.environment(), entry), entry::line, version, CONNECT);
        } catch (SecretException e) {
            throw McpException.unreachable(e.code() + ": " + e.getMessage());
        }
    }

    private Map<String, String> opened(UUID workspace, Map<String, String> texts, Entry entry) {
        Collection<String> values = texts.values();
        SecretStore.Opened opened = secrets.open(workspace, McpSecrets.names(values));
        entry.struck = opened.struck();
        return McpSecrets.opened(texts, opened);
    }

    @Override
    public void close() {
        List<Thread> closing = entries.values().stream()
                .map(entry -> Thread.ofVirtual().start(() -> entry.drop(false))).toList();
        for (Thread each : closing) {
            try {
                each.join(Duration.ofSeconds(5));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
