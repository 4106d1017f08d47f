package io.keelson.process;

import io.keelson.client.Keelson;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.DatabaseUrl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Servers on one database, any of which can be killed at a chosen moment while the others go on. */
final class KilledNodes implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final List<KilledNode> nodes = new ArrayList<>();

    KilledNodes(int count, Path folder, DatabaseUrl url, Map<String, String> settings) throws IOException {
        for (int i = 0; i < count; i++) {
            nodes.add(new KilledNode(folder.resolve("node" + i), url, settings));
        }
        for (KilledNode node : nodes) {
            node.awaitReady();
        }
    }

    /** Of the node whose turn the n-th call is. */
    Keelson client(int number) {
        try {
            return nodes.get(number % nodes.size()).client();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The address of the node whose turn the n-th call is, as the environment of a program has it. */
    Map<String, String> address(int number) throws IOException {
        return nodes.get(number % nodes.size()).address();
    }

    /** Kills a node as {@link KilledNode#killAt} says, and has it start again; {@link #awaitReady} waits for it. */
    void kill(int node, Point point, Write write, int past) throws IOException, InterruptedException {
        nodes.get(node).killAt(point, write, past);
        nodes.get(node).restart();
    }

    /** The same, and gives it work until it gets there: another node may take what there is. */
    void kill(int node, Point point, Write write, int past, Runnable work) throws IOException, InterruptedException {
        nodes.get(node).doom(point, write, past);
        do {
            work.run();
        } while (!nodes.get(node).diesWithin(TIMEOUT));
        nodes.get(node).restart();
    }

    /** Waits until the node takes runs. */
    void awaitReady(int node) throws IOException {
        nodes.get(node).awaitReady();
    }

    @Override
    public void close() throws IOException {
        for (KilledNode node : nodes) {
            node.close();
        }
    }
}
