package io.keelson.server.engine.upkeep;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.engine.execute.StepExecution;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Registers this node, sends its heartbeat, and extends the leases of its executions. */
public final class NodeHeartbeat implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeHeartbeat.class);
    /** Accepted delay of a heartbeat. */
    private static final Duration TOLERANCE = Duration.ofSeconds(5);

    /**
     * This node.
     *
     * @param lease how long work stays with a silent node
     * @param secretKeys names of the keys that it opens secrets with, the sealing key first
     */
    public record Node(String id, String version, Duration lease, List<String> secretKeys) {}

    private final Database database;
    private final Store store;
    private final DueWorkPoller dueWorkPoller;
    private final LocalExecutor executor;
    private final ClusterNotifier notifier;
    private final Node node;
    private volatile long committedAt;

    /** @param dueWorkPoller runs the heartbeat's statements */
    public NodeHeartbeat(Database database, Store store, DueWorkPoller dueWorkPoller, LocalExecutor executor,
            ClusterNotifier notifier, Node node) {
        this.database = database;
        this.store = store;
        this.dueWorkPoller = dueWorkPoller;
        this.executor = executor;
        this.notifier = notifier;
        this.node = node;
    }

    void register() {
        boolean peers = database.inTransaction(c -> {
            boolean others = store.workers().register(c, node.id(), node.version(), silence());
            store.workers().announceKeys(c, node.id(), node.secretKeys());
            return others;
        });
        committedAt = System.nanoTime();
        notifier.peersPresent(peers);
        warnOfOtherKeys();
    }

    /** In a transaction after the registration, so that of nodes which start together the last one sees the others. */
    private void warnOfOtherKeys() {
        database.withConnection(c -> store.workers().otherKeys(c, node.id(), silence()))
                .forEach(other -> LOG.warn(
                        "SECRET_KEYS_DIFFER: this server ({}) encrypts secrets under the key {}, the server {} of the same"
                                + " database under {}, and one does not have the key of the other: steps that need a"
                                + " secret fail there; set the same KEELSON_SECRET_KEY for all servers",
                        node.id(), node.secretKeys().getFirst(), other.node(), other.key()));
    }

    /**
     * Sends a heartbeat, and stops executions that have lost their lease, because of a cancelled run or a long silence
     * of this node, for example.
     */
    void send() {
        boolean peers = dueWorkPoller.query(c -> {
            boolean others = store.workers().heartbeat(c, node.id(), node.version(), silence());
            Map<Lane, StepExecution> held = executor.held();
            for (Lane lane : store.runs().extendLeases(c, node.id(), held.keySet())) {
                StepExecution lost = Objects.requireNonNull(held.get(lane));
                executor.stop(lost.stepId(), lost.leaseEpoch());
            }
            return others;
        });
        committedAt = System.nanoTime();
        notifier.peersPresent(peers);
    }

    /** Whether a heartbeat was committed recently: not while the database accepts no writes. */
    boolean commits() {
        return System.nanoTime() - committedAt < silence().toNanos();
    }

    Duration period() {
        return node.lease().dividedBy(3);
    }

    /** After this time without a heartbeat a node may be dead. */
    private Duration silence() {
        return period().plus(TOLERANCE);
    }

    /** Receives no further notifications, and removes the node from the registry. */
    @Override
    public void close() throws InterruptedException {
        notifier.close();
        try {
            database.runInTransaction(c -> store.workers().deregister(c, node.id()));
        } catch (SqlFailure e) {
            LOG.warn("could not deregister the node: {}", e.getMessage());
        }
    }
}
