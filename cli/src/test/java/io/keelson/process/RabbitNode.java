package io.keelson.process;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A RabbitMQ broker that {@code scripts/rabbitmq-node} starts. */
final class RabbitNode implements AutoCloseable {

    private static final Path SCRIPT = Path.of("../scripts/rabbitmq-node").toAbsolutePath().normalize();
    private static final int MINUTES = 4;

    private final Path folder;
    private final int port;

    private RabbitNode(Path folder, int port) {
        this.folder = folder;
        this.port = port;
    }

    static boolean isInstalled() {
        return Files.isExecutable(Path.of("/usr/lib/rabbitmq/bin/rabbitmq-server"));
    }

    static RabbitNode start() throws IOException, InterruptedException {
        // RabbitMQ's user has no access to a test's own folder
        Path folder = Files.createTempDirectory("keelson-rabbitmq");
        script("chmod", "755", folder.toString());
        RabbitNode node = new RabbitNode(folder.resolve("node"), freePorts());
        try {
            node.startAgain();
            return node;
        } catch (IOException | RuntimeException | Error e) {
            node.close();
            throw e;
        }
    }

    /** Three free ports in a row; the first one. */
    private static int freePorts() throws IOException {
        for (int tries = 0; tries < 100; tries++) {
            try (ServerSocket first = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                int port = first.getLocalPort();
                if (port < 65_000 && isFree(port + 1) && isFree(port + 2)) {
                    return port;
                }
            }
        }
        throw new IOException("there are no three free ports in a row");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    URI url() {
        return URI.create("amqp://keelson:keelson@127.0.0.1:" + port);
    }

    void startAgain() throws IOException, InterruptedException {
        call("start");
    }

    /** Ends it at once. */
    void kill() throws IOException, InterruptedException {
        call("kill");
    }

    /** Calls {@code rabbitmqctl}. */
    void control(String... arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("ctl"));
        all.addAll(List.of(arguments));
        call(all.toArray(String[]::new));
    }

    /** Sends a message with this id to a queue. */
    void send(String queue, String id) throws Exception {
        try (Connection connection = connect(); Channel channel = connection.createChannel()) {
            channel.confirmSelect();
            channel.basicPublish("", queue, true, new BasicProperties.Builder().messageId(id).deliveryMode(2).build(),
                    "{}".getBytes(StandardCharsets.UTF_8));
            channel.waitForConfirmsOrDie(TimeUnit.SECONDS.toMillis(20));
        }
    }

    /** The messages of a queue that no worker has; 0 without such a queue. */
    int waiting(String queue) {
        try (Connection connection = connect(); Channel channel = connection.createChannel()) {
            return channel.queueDeclarePassive(queue).getMessageCount();
        } catch (Exception e) {
            return 0;
        }
    }

    private Connection connect() throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(url());
        return factory.newConnection();
    }

    private void call(String... action) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(SCRIPT.toString(), folder.toString(), Integer.toString(port)));
        command.addAll(List.of(action));
        script(command.toArray(String[]::new));
    }

    private static void script(String... command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("keelson-rabbitmq", ".log");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            if (!process.waitFor(MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException(String.join(" ", command) + " failed:\n" + Files.readString(output));
            }
        } finally {
            Files.delete(output);
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        call("stop");
        script("rm", "-rf", folder.getParent().toString());
    }
}
