package io.keelson.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A host of its own on this machine: a network namespace that a pair of interfaces joins to this one. Rules of nftables drop packets
 * between both. Only root can create one, with Debian's iproute2 and nftables.
 */
final class NetworkNamespace implements AutoCloseable {

    private static final AtomicInteger COUNT = new AtomicInteger();

    private final String name;
    private final String network;

    NetworkNamespace() throws IOException, InterruptedException {
        int number = COUNT.incrementAndGet();
        name = "kf" + ProcessHandle.current().pid() + "n" + number;
        network = "10.97." + (ProcessHandle.current().pid() % 200 + number) + ".";
        execute("ip", "netns", "add", name);
        try {
            String here = "kf" + ProcessHandle.current().pid() % 100_000 + "n" + number;
            execute("ip", "link", "add", here, "type", "veth", "peer", "name", "eth0", "netns", name);
            execute("ip", "addr", "add", here() + "/24", "dev", here);
            execute("ip", "link", "set", here, "up");
            inside("ip", "addr", "add", there() + "/24", "dev", "eth0");
            inside("ip", "link", "set", "eth0", "up");
            inside("ip", "link", "set", "lo", "up");
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Whether this user can create one and drop its packets. */
    static boolean available() throws InterruptedException {
        try (NetworkNamespace trial = new NetworkNamespace()) {
            trial.cut(1, true, true);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The address of this machine as the namespace sees it. */
    String here() {
        return network + "254";
    }

    /** The address of the namespace. */
    String there() {
        return network + "1";
    }

    /** The command that executes a program in the namespace. */
    List<String> prefix() {
        return List.of("ip", "netns", "exec", name);
    }

    /** Drops packets of the namespace to that port here, packets from the port, or both. */
    void cut(int port, boolean requests, boolean answers) throws IOException, InterruptedException {
        heal();
        inside("nft", "add table inet fault");
        if (requests) {
            inside("nft", "add chain inet fault out { type filter hook output priority 0; }");
            inside("nft", "add rule inet fault out tcp dport " + port + " drop");
        }
        if (answers) {
            inside("nft", "add chain inet fault in { type filter hook input priority 0; }");
            inside("nft", "add rule inet fault in tcp sport " + port + " drop");
        }
    }

    /** Drops nothing any more. */
    void heal() throws IOException, InterruptedException {
        inside("nft", "add table inet fault; delete table inet fault");
    }

    private void inside(String... command) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(prefix());
        all.addAll(List.of(command));
        execute(all.toArray(String[]::new));
    }

    private static void execute(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + said);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            execute("ip", "netns", "del", name);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
