package io.keelson.client.worker;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.keelson.api.worker.Claim;
import io.keelson.api.worker.WorkItem;
import io.keelson.api.worker.WorkQueues;
import io.keelson.client.Backoff;
import io.keelson.client.KeelsonException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * Messages of a RabbitMQ broker about work that is ready. Connects by itself, again and again. A message is acknowledged once the
 * server has answered the step's report, or has not given the step; until then the broker delivers it to another worker when this one
 * is gone. The broker delivers no more unacknowledged messages of a queue than the worker has slots.
 */
final class ReadyWork implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ReadyWork.class.getName());
    private static final int CONNECT_MS = 5_000;

    /** A message. */
    record Message(Claim.Item item, Channel channel, long tag) {

        void acknowledge() {
            settle(() -> channel.basicAck(tag, false));
        }

        private void settle(Answer answer) {
            try {
                answer.send();
            } catch (IOException | ShutdownSignalException e) {
                LOG.log(Level.DEBUG, "the broker is gone, and delivers the message again", e);
            }
        }

        private interface Answer {
            void send() throws IOException;
        }
    }

    private final URI broker;
    private final String workerId;
    private final Supplier<UUID> workspace;
    private final Set<String> tools;
    private final int slots;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** Messages that are not claimed yet, by their classes of priorities. */
    private final List<Deque<Message>> waiting = WorkQueues.CLASSES.stream().<Deque<Message>>map(
            each -> new ArrayDeque<>()).toList();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = Threads.daemon("keelson-broker", this::run);
    private boolean connected;
    private boolean stopping;

    /** @param workspace of the worker's key; throws {@link KeelsonException} while the server is away */
    ReadyWork(URI broker, String workerId, Supplier<UUID> workspace, Set<String> tools, int slots) {
        this.broker = broker;
        this.workerId = workerId;
        this.workspace = workspace;
        this.tools = Set.copyOf(tools);
        this.slots = slots;
    }

    void start() {
        thread.start();
    }

    boolean connected() {
        lock.lock();
        try {
            return connected;
        } finally {
            lock.unlock();
        }
    }

    /** Messages, as soon as there is one; none after the wait, without a connection and when the worker stops. */
    List<Message> take(int most, Duration wait) throws InterruptedException {
        lock.lock();
        try {
            long left = wait.toNanos();
            while (waiting.stream().allMatch(Deque::isEmpty) && connected && !stopping && left > 0) {
                left = changed.awaitNanos(left);
            }
            List<Message> taken = new ArrayList<>();
            for (Deque<Message> messages : waiting) {
                while (taken.size() < most && !messages.isEmpty()) {
                    taken.add(messages.remove());
                }
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The answer to a claim of the messages' items. Acknowledges each message without a step: its work was claimed before, or cannot be
     * claimed now, and then the server sends another message.
     *
     * @return the message of each step, in their order
     */
    static List<Message> claimed(List<Message> messages, List<WorkItem> steps) {
        List<Message> rest = new ArrayList<>(messages);
        List<Message> matched = new ArrayList<>();
        for (WorkItem step : steps) {
            rest.stream().filter(message -> message.item.taskId().equals(step.taskId())).findFirst()
                    .ifPresent(message -> {
                        rest.remove(message);
                        matched.add(message);
                    });
        }
        rest.forEach(Message::acknowledge);
        return matched;
    }

    /** The messages were not claimed, because the server did not answer. They are the next to be taken. */
    void giveBack(List<Message> messages) {
        lock.lock();
        try {
            messages.stream().filter(message -> message.channel.isOpen()).forEach(waiting.get(0)::addFirst);
        } finally {
            lock.unlock();
        }
    }

    /** The server will never accept a claim of these messages: the broker moves them to the queue of dead messages. */
    static void refuse(List<Message> messages) {
        messages.forEach(message -> message.settle(() -> message.channel.basicReject(message.tag, false)));
    }

    private void run() {
        Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10));
        try {
            while (closed.getCount() > 0) {
                try {
                    Connection connection = connect();
                    backoff.reset();
                    try {
                        consume(connection);
                    } finally {
                        connection.abort();
                    }
                } catch (IOException | GeneralSecurityException | TimeoutException
                        | ShutdownSignalException | KeelsonException e) {
                    if (backoff.failures() == 0) {
                        LOG.log(Level.WARNING, "worker {0} polls, because it has no messages of the broker at {1}: {2}",
                                workerId, broker.getHost(), e.getMessage());
                    }
                }
                if (closed.await(backoff.next(null).toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Connection connect() throws IOException, GeneralSecurityException, TimeoutException {
        ConnectionFactory factory = new ConnectionFactory();
        try {
            factory.setUri(broker);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("not a broker's address: " + broker.getHost(), e);
        }
        if (factory.isSSL()) {
            factory.useSslProtocol(SSLContext.getDefault());
            factory.enableHostnameVerification();
        }
        factory.setThreadFactory(body -> Threads.daemon("keelson-broker", body));
        factory.setAutomaticRecoveryEnabled(false);
        factory.setConnectionTimeout(CONNECT_MS);
        factory.setHandshakeTimeout(CONNECT_MS);
        factory.setChannelRpcTimeout(CONNECT_MS);
        return factory.newConnection("keelson worker " + workerId);
    }

    /** Returns when the channel or the worker is closed. */
    private void consume(Connection connection) throws IOException, InterruptedException {
        Channel channel = connection.createChannel();
        CountDownLatch lost = new CountDownLatch(1);
        channel.addShutdownListener(cause -> lost.countDown());
        channel.basicQos(slots);
        UUID mine = workspace.get();
        for (String tool : tools) {
            for (int i = 0; i < WorkQueues.CLASSES.size(); i++) {
                String queue = WorkQueues.name(mine, tool, WorkQueues.CLASSES.get(i));
                channel.queueDeclare(queue, true, false, false, WorkQueues.arguments());
                channel.basicConsume(queue, false, new Consumer(channel, waiting.get(i)));
            }
        }
        connected(true);
        try {
            while (!lost.await(1, TimeUnit.SECONDS)) {
                if (closed.getCount() == 0) {
                    return;
                }
            }
            LOG.log(Level.WARNING, "worker {0} has lost the broker at {1}, and polls until it is back", workerId,
                    broker.getHost());
        } finally {
            connected(false);
        }
    }

    private void connected(boolean now) {
        lock.lock();
        try {
            connected = now;
            if (!now) {
                waiting.forEach(Deque::clear);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Puts messages into their queue. */
    private final class Consumer extends DefaultConsumer {

        private final Deque<Message> messages;

        private Consumer(Channel channel, Deque<Message> messages) {
            super(channel);
            this.messages = messages;
        }

        @Override
        public void handleDelivery(String consumer, Envelope envelope, BasicProperties properties, byte[] body)
                throws IOException {
            String[] id = String.valueOf(properties.getMessageId()).split(":", -1);
            Message message;
            try {
                message =
                        new Message(new Claim.Item(UUID.fromString(id[0]), Integer.parseUnsignedInt(id[id.length - 1])),
                                getChannel(), envelope.getDeliveryTag());
            } catch (IllegalArgumentException e) {
                LOG.log(Level.WARNING, "a message of the broker names no work, and is moved to {0}", WorkQueues.DEAD);
                getChannel().basicReject(envelope.getDeliveryTag(), false);
                return;
            }
            lock.lock();
            try {
                messages.add(message);
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void handleCancel(String consumer) throws IOException {
            try {
                getChannel().close();
            } catch (TimeoutException e) {
                throw new IOException(e);
            }
        }
    }

    /** Takes no more messages. Messages of running steps can still be acknowledged. */
    void stop() {
        lock.lock();
        try {
            stopping = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The broker delivers all messages without an acknowledgement to other workers. */
    @Override
    public void close() {
        closed.countDown();
    }
}
