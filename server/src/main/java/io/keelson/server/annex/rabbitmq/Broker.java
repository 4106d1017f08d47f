package io.keelson.server.annex.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
import io.keelson.api.worker.Claim;
import io.keelson.api.worker.WorkQueues;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.queue.WorkMessages.Message;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection to the broker with a channel whose messages are confirmed. For one thread. */
final class Broker implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Broker.class);
    private static final int CONNECT_MS = 5_000;
    private static final int PERSISTENT = 2;

    private final Connection connection;
    private final Channel channel;
    private final Set<String> declared = new HashSet<>();
    /** Messages without an outcome, by their numbers on the channel. */
    private final ConcurrentNavigableMap<Long, Message> open = new ConcurrentSkipListMap<>();
    private final Set<Message> refused = ConcurrentHashMap.newKeySet();
    /** Ids of messages that were returned because their queue was deleted. The broker confirms them nevertheless. */
    private final Set<String> returned = ConcurrentHashMap.newKeySet();

    /**
     * The outcome of several messages. The others have none: the broker was too slow, is gone, or lacked their queue.
     *
     * @param refused because their queue is full
     */
    record Outcome(List<Message> confirmed, List<Message> refused) {}

    private Broker(Connection connection, Channel channel) throws IOException {
        this.connection = connection;
        this.channel = channel;
        channel.confirmSelect();
        channel.addConfirmListener((number, many) -> settle(number, many, false),
                (number, many) -> settle(number, many, true));
        channel.addReturnListener(message -> returned.add(message.getProperties().getMessageId()));
        channel.queueDeclare(WorkQueues.DEAD, true, false, false, WorkQueues.argumentsOfDead());
    }

    /**
     * Connects.
     *
     * @throws IOException with the reason
     */
    static Broker connect(RabbitSettings settings, String name) throws IOException {
        try {
            ConnectionFactory factory = new ConnectionFactory();
            factory.setUri(settings.broker());
            if (factory.isSSL()) {
                factory.useSslProtocol(SSLContext.getDefault());
                factory.enableHostnameVerification();
            }
            factory.setAutomaticRecoveryEnabled(false);
            factory.setConnectionTimeout(CONNECT_MS);
            factory.setHandshakeTimeout(CONNECT_MS);
            factory.setChannelRpcTimeout(CONNECT_MS);
            Connection connection = factory.newConnection(name);
            try {
                return new Broker(connection, connection.createChannel());
            } catch (IOException | RuntimeException e) {
                connection.abort();
                throw e;
            }
        } catch (GeneralSecurityException | URISyntaxException | TimeoutException | ShutdownSignalException e) {
            throw new IOException(e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage(), e);
        }
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    /** Whether the message's queue has messages without a worker. */
    boolean hasWaiting(Message message) throws IOException {
        return declare(message) > 0;
    }

    private long declare(Message message) throws IOException {
        String queue = queue(message);
        declared.add(queue);
        return channel.queueDeclare(queue, true, false, false, WorkQueues.arguments()).getMessageCount();
    }

    private static String queue(Message message) {
        return WorkQueues.name(message.workspaceId(), message.tool(), message.priority());
    }

    /** Sends the messages and waits for their outcome. */
    Outcome send(List<Message> messages, Duration wait) throws IOException, InterruptedException {
        refused.clear();
        returned.clear();
        open.clear();
        for (Message message : messages) {
            if (!declared.contains(queue(message))) {
                declare(message);
            }
            open.put(channel.getNextPublishSeqNo(), message);
            channel.basicPublish("", queue(message), true, properties(message), body(message));
        }
        try {
            channel.waitForConfirms(wait.toMillis());
        } catch (TimeoutException | ShutdownSignalException e) {
            LOG.debug("the broker did not confirm {} messages", open.size(), e);
        }
        if (!returned.isEmpty()) {
            declared.clear();
        }
        List<Message> confirmed = new ArrayList<>(messages);
        confirmed.removeAll(open.values());
        confirmed.removeAll(refused);
        confirmed.removeIf(message -> returned.contains(id(message)));
        return new Outcome(confirmed, List.copyOf(refused));
    }

    private static BasicProperties properties(Message message) {
        return new BasicProperties.Builder().messageId(id(message)).contentType("application/json")
                .deliveryMode(PERSISTENT).build();
    }

    private static String id(Message message) {
        return message.taskId() + ":" + message.lane();
    }

    private static byte[] body(Message message) {
        return Json.document(new Claim.Item(message.taskId(), message.lane())).toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    private void settle(long number, boolean many, boolean refusal) {
        var settled = many ? open.headMap(number, true) : open.subMap(number, true, number, true);
        if (refusal) {
            refused.addAll(settled.values());
        }
        settled.clear();
    }

    @Override
    public void close() {
        connection.abort(CONNECT_MS);
    }
}
