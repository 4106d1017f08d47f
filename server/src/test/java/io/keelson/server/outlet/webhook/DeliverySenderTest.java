package io.keelson.server.outlet.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.api.outlet.Webhook;
import io.keelson.api.outlet.WebhookDelivery;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.outlet.notice.Notice;
import io.keelson.server.outlet.notice.Notices;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deliveries under faults of receivers and nodes: none is lost, none is unsigned, and each endpoint gets its turn. */
@Breadth.Spread
@Timeout(60)
class DeliverySenderTest {

    private static final Notices NOTICES = new Notices() {
        @Override
        public boolean mayRead(Target target) {
            return true;
        }

        @Override
        public Notice write(Target target, String body) {
            return new Notice(body, "", List.of(), List.of());
        }
    };

    private static final UUID WORKSPACE = Bootstrap.DEFAULT_WORKSPACE;
    private static final DeliveryPolicy PACE = new DeliveryPolicy(Duration.ofSeconds(20), Duration.ofSeconds(30),
            List.of(Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(1)), 100, Duration.ofDays(5), 100_000);

    private Database database;
    private Endpoints endpoints;
    private Deliveries deliveries;
    private OutboundClient client;
    private Receiver receiver;
    private final List<DeliveryObserver.Outcome> attempts = new CopyOnWriteArrayList<>();

    @BeforeEach
    void start() throws IOException {
        database = TestDatabase.create();
        sql("insert into workspaces (id, name) values ('" + WORKSPACE + "', 'ours')");
        endpoints = new Endpoints(database, new SecretStore(database, SealingKey.fresh(), List.of()));
        deliveries = new Deliveries(database);
        client = new OutboundClient(true);
        receiver = new Receiver();
    }

    @AfterEach
    void stop() {
        receiver.close();
        client.close();
        database.close();
    }

    private DeliveryTransport transport() {
        return new DeliveryTransport(client, NOTICES, null,
                Clock.systemUTC(), PACE.timeout());
    }

    private DeliverySender sender(DeliveryPolicy deliveryPolicy) {
        return new DeliverySender(database, transport(), endpoints.seals(), Clock.systemUTC(), deliveryPolicy,
                List.of(new DeliveryObserver() {
                    @Override
                    public void attempted(Attempt attempt) {
                        attempts.add(attempt.outcome());
                    }
                }));
    }

    private Webhook endpoint(String path) {
        return endpoints.create(WORKSPACE, UUID.randomUUID(),
                change(receiver.url() + path, Optional.of(List.of("*"))),
                AuditOrigin.SERVER).orElseThrow();
    }

    private static Webhook.Change change(@Nullable String url, @Nullable Optional<List<String>> events) {
        return new Webhook.Change(url, null, null, events, null, null, null, null, null, null, true);
    }

    private static UUID id(Webhook endpoint) {
        return UUID.fromString(endpoint.id());
    }

    /** So many deliveries, made in another order than they are to go in; their bodies are their positions. */
    private void queue(UUID endpoint, int count) {
        for (long i = count; i > 0; i--) {
            sql("insert into webhook_deliveries (id, workspace_id, endpoint_id, event_id, position, type, body) values ('"
                    + Deliveries.idOf(endpoint, i) + "', '" + WORKSPACE + "', '" + endpoint + "', " + i + ", " + i
                    + ", 'x', '" + i + "')");
        }
        due();
    }

    private void due() {
        sql("update webhook_endpoints set due_at = clock_timestamp() where enabled");
    }

    private void sql(String statement) {
        database.runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute(statement);
            }
        });
    }

    private List<String> all(String query) {
        return database.withConnection(c -> {
            try (var s = c.createStatement(); ResultSet row = s.executeQuery(query)) {
                List<String> found = new ArrayList<>();
                while (row.next()) {
                    found.add(row.getString(1));
                }
                return found;
            }
        });
    }

    /** Serves what is due until nothing is, and answers how many turns that took; waits after failures are cut short. */
    private int serveAll(DeliverySender deliverySender) throws InterruptedException {
        int turns = 0;
        while (!all("select id from webhook_endpoints where enabled and due_at is not null").isEmpty()) {
            due();
            for (DeliverySender.EndpointBatch endpointBatch : deliverySender.claim(10)) {
                turns++;
                endpointBatch.serve();
            }
        }
        return turns;
    }

    private List<String> bodies() {
        return receiver.got().stream().map(Receiver.Got::body).toList();
    }

    private static List<String> numbers(int count) {
        return LongStream.rangeClosed(1, count).mapToObj(String::valueOf).toList();
    }

    @Test
    void noDeliveryIsLostOnReceiverFailures() throws Exception {
        Webhook to = endpoint("in");
        queue(id(to), 4);
        receiver.then(500, 302, Receiver.HANG, 200, 404, 204);

        DeliverySender patient = sender(PACE);
        DeliverySender hasty = sender(new DeliveryPolicy(Duration.ofSeconds(1), PACE.lease(), PACE.delays(),
                PACE.turn(), PACE.failingLimit(), PACE.most()));
        for (DeliverySender each : List.of(patient, patient, hasty)) {
            due();
            each.claim(1).getFirst().serve();
        }
        assertThat(serveAll(patient)).isEqualTo(2);

        assertThat(bodies()).containsExactly("1", "1", "1", "1", "2", "2", "3", "4");
        assertThat(receiver.got()).allSatisfy(got -> {
            assertThat(got.path()).isEqualTo("/in");
            assertThat(got.signedBy(to.secret())).isEqualTo(1);
            assertThat(got.id()).isEqualTo(
                    Deliveries.wire(Deliveries.idOf(id(to), Long.parseLong(got.body()))));
            assertThat(Long.parseLong(got.timestamp())).isCloseTo(Clock.systemUTC().instant().getEpochSecond(),
                    org.assertj.core.data.Offset.offset(30L));
        });
        assertThat(all("select distinct state from webhook_deliveries")).containsExactly("delivered");
        assertThat(all("select attempts from webhook_deliveries order by position")).containsExactly("4", "2", "1",
                "1");
    }

    private Webhook found(UUID endpoint) {
        return endpoints.find(WORKSPACE, endpoint).orElseThrow();
    }

    private static DeliveryPolicy giving(Duration failingLimit, int most) {
        return new DeliveryPolicy(PACE.timeout(), PACE.lease(), PACE.delays(), PACE.turn(), failingLimit, most);
    }

    /** A failing endpoint is disabled: it collects no deliveries, shows the reason, and can be enabled again. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void endpointThatFailsTooLongIsDisabled(boolean forTime) throws Exception {
        UUID to = id(endpoint("in"));
        queue(to, 4);
        receiver.then(200, 500, 500);
        for (DeliverySender.EndpointBatch endpointBatch : sender(giving(Duration.ofDays(5), 4)).claim(1)) {
            endpointBatch.serve();
        }
        assertThat(found(to).enabled()).as("three wait, and it was never in time").isTrue();
        assertThat(found(to).failingSince()).isNotNull();
        assertThat(found(to).lastError()).isEqualTo("answered 500");
        due();

        for (DeliverySender.EndpointBatch turn : sender(
                forTime ? giving(Duration.ZERO, 4) : giving(Duration.ofDays(5), 3)).claim(1)) {
            turn.serve();
        }

        assertThat(found(to).enabled()).isFalse();
        assertThat(found(to).disabledReason()).isEqualTo("failing");
        assertThat(all("select action from operator_audit")).contains("webhook_disabled");
        assertThat(attempts).containsExactly(DeliveryObserver.Outcome.DELIVERED, DeliveryObserver.Outcome.FAILED,
                DeliveryObserver.Outcome.FAILED);
        endpoints.change(WORKSPACE, to, change(null, null),
                AuditOrigin.SERVER, current -> {});
        assertThat(found(to).failingSince()).isNull();
        serveAll(sender(PACE));
        assertThat(all("select distinct state from webhook_deliveries")).containsExactly("delivered");
        assertThat(found(to).lastError()).isNull();
    }

    /** One who takes something again is well. */
    @Test
    void successResetsTheFailures() throws Exception {
        UUID to = id(endpoint("in"));
        queue(to, 1);
        receiver.then(503);
        serveAll(sender(PACE));

        assertThat(found(to).failingSince()).isNull();
        assertThat(found(to).lastError()).isNull();
        assertThat(database.withConnection(Deliveries::waiting)).isEqualTo(new Deliveries.Waiting(0, 0, 0));
    }

    /** What cannot be signed fails before everybody's eyes, and is signed once the key is there. */
    @Test
    void aSecretUnderAnUnknownKeyIsSeen() throws Exception {
        Webhook to = endpoint("in");
        queue(id(to), 1);
        Endpoints others = new Endpoints(database, new SecretStore(database, SealingKey.fresh(), List.of()));
        DeliverySender strange =
                new DeliverySender(database, transport(), others.seals(), Clock.systemUTC(), PACE, List.of());

        for (DeliverySender.EndpointBatch endpointBatch : strange.claim(1)) {
            endpointBatch.serve();
        }

        assertThat(receiver.got()).isEmpty();
        assertThat(found(id(to)).lastError()).contains("sealed under the key",
                "KEELSON_SECRET_KEYS_PREVIOUS");
        assertThat(all("select last_error from webhook_deliveries").getFirst()).contains("sealed under the key");
        assertThat(database.withConnection(Deliveries::waiting)).satisfies(waiting -> {
            assertThat(waiting.pending()).isEqualTo(1);
            assertThat(waiting.failing()).isEqualTo(1);
            assertThat(waiting.oldestSeconds()).isPositive();
        });
        due();
        serveAll(sender(PACE));
        assertThat(receiver.got()).singleElement().satisfies(got -> assertThat(got.signedBy(to.secret())).isEqualTo(1));
    }

    /** What cannot be made any more keeps nothing waiting that is made. */
    @Test
    void createdDeliveriesAreSentWhileNoneCanBeCreated() throws Exception {
        queue(id(endpoint("in")), 2);
        sql("alter table webhook_feed rename to webhook_feed_gone");
        try (WebhookDispatcher webhookDispatcher =
                new WebhookDispatcher(database, endpoints, deliveries, client,
                        new WebhookDispatcher.People(NOTICES, null),
                        Clock.systemUTC(), run -> null,
                        List.of())) {
            webhookDispatcher.signal();
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> bodies().size() == 2);
        }
    }

    @Test
    void aConnectionThatBrokeOffIsMadeAgainOnce() throws Exception {
        queue(id(endpoint("in")), 2);
        receiver.then(Receiver.BREAK_OFF, 200, Receiver.BREAK_OFF, Receiver.BREAK_OFF);

        assertThat(serveAll(sender(PACE))).isEqualTo(2);

        assertThat(bodies()).containsExactly("1", "1", "2", "2", "2");
        assertThat(all("select attempts from webhook_deliveries order by position")).containsExactly("1", "2");
        assertThat(all("select distinct state from webhook_deliveries")).containsExactly("delivered");
    }

    /** Also where what waits has the last id that there is. */
    @Test
    void aPingIsBehindWhatWaits() throws Exception {
        UUID to = id(endpoint("in"));
        sql("select setval('run_event_packs_id_seq', 3)");
        queue(to, 3);
        deliveries.ping(WORKSPACE, to, new UUID(0, 1));

        serveAll(sender(PACE));

        assertThat(bodies().subList(0, 3)).containsExactly("1", "2", "3");
        assertThat(bodies().getLast()).contains(Topics.PING);
    }

    /** The sender that served the endpoint is about to release it, and has not seen the ping. */
    @Test
    void aPingWakesAnEndpointThatIsJustLetGo() throws Exception {
        UUID to = id(endpoint("in"));
        sql("update webhook_endpoints set held_until = clock_timestamp() + interval '1 minute', due_at = held_until");
        FutureTask<Boolean> ping = new FutureTask<>(() -> {
            deliveries.ping(WORKSPACE, to, new UUID(0, 1));
            return true;
        });
        database.runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute("update webhook_endpoints set held_until = null, due_at = null");
            }
            Thread.startVirtualThread(ping);
            Awaitility.await().until(() -> ping.isDone() || !all("""
                    select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'""")
                    .isEmpty());
        });
        ping.get();

        serveAll(sender(PACE));

        assertThat(bodies()).singleElement().asString().contains(Topics.PING);
    }

    /** The receiver greets like a database server: a line with NUL in it. */
    @Test
    void nonHttpReceiverIsAnOrdinaryFailure() throws Exception {
        try (ServerSocket port = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.startVirtualThread(() -> {
                while (true) {
                    try (Socket caller = port.accept()) {
                        var _ = caller.getInputStream().read(new byte[8_192]);
                        caller.getOutputStream().write("J\0\0\0\n8.4.0\0".getBytes(StandardCharsets.UTF_8));
                    } catch (IOException e) {
                        return;
                    }
                }
            });
            UUID to = id(endpoint("in"));
            sql("update webhook_endpoints set url = 'http://127.0.0.1:" + port.getLocalPort() + "/'");
            queue(to, 1);

            assertThat(sender(PACE).claim(1).getFirst().serve()).isFalse();

            assertThat(deliveries.list(WORKSPACE, to, "pending", null, 10)).singleElement().satisfies(tried -> {
                assertThat(tried.attempts()).isEqualTo(1);
                assertThat(tried.lastError()).contains("J\uFFFD");
            });
        }
    }

    @Test
    void aFailureHasTheEndpointWait() throws Exception {
        queue(id(endpoint("in")), 2);
        receiver.then(500);
        DeliverySender deliverySender = sender(PACE);

        assertThat(deliverySender.claim(10).getFirst().serve()).isFalse();

        assertThat(deliverySender.claim(10)).isEmpty();
        assertThat(all("select extract(epoch from due_at - clock_timestamp()) between 3500 and 3600"
                + " from webhook_endpoints")).containsExactly("t");
        assertThat(deliveries.list(WORKSPACE, id(endpoints.list(WORKSPACE).getFirst()), "pending", null, 10))
                .extracting(WebhookDelivery::lastError).containsExactlyInAnyOrder("answered 500", null);
    }

    @Test
    void exhaustedDeliveryIsDeadAndTheNextOnesAreSent() throws Exception {
        UUID to = id(endpoint("in"));
        queue(to, 3);
        receiver.then(500, 500, 500, 500);

        serveAll(sender(PACE));

        assertThat(bodies()).containsExactly("1", "1", "1", "1", "2", "3");
        assertThat(all("select state from webhook_deliveries order by position")).containsExactly("dead", "delivered",
                "delivered");

        String before = receiver.got().getFirst().id();
        deliveries.deadAgain(WORKSPACE, to);
        serveAll(sender(PACE));

        assertThat(receiver.got().getLast().id()).isEqualTo(before);
        assertThat(all("select distinct state from webhook_deliveries")).containsExactly("delivered");
    }

    @Test
    void receiverThatAnswersGoneGetsNoMore() throws Exception {
        UUID to = id(endpoint("in"));
        queue(to, 2);
        receiver.then(410);

        serveAll(sender(PACE));

        assertThat(bodies()).containsExactly("1");
        Webhook disabled = endpoints.find(WORKSPACE, to).orElseThrow();
        assertThat(disabled.enabled()).isFalse();
        assertThat(disabled.disabledReason()).isEqualTo("gone");
        assertThat(disabled.pending()).isEqualTo(2);

        endpoints.change(WORKSPACE, to, change(null, null),
                AuditOrigin.SERVER, current -> {});
        serveAll(sender(PACE));
        assertThat(bodies()).containsExactly("1", "1", "2");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void senderWithALostLeaseRecordsNothing(boolean overtaken) throws Exception {
        queue(id(endpoint("in")), 2);
        receiver.then(Receiver.HANG, 500);
        DeliverySender one = sender(PACE);
        DeliverySender other = sender(PACE);
        FutureTask<Boolean> suspended = new FutureTask<>(() -> one.claim(1).getFirst().serve());
        Thread.startVirtualThread(suspended);
        Awaitility.await().until(() -> receiver.got().size() == 1);
        assertThat(other.claim(1)).isEmpty();

        if (overtaken) {
            due();
            assertThat(other.claim(1).getFirst().serve()).isFalse();
        }
        receiver.release();
        suspended.get();

        assertThat(all("select attempts || ' ' || state || ' ' || coalesce(last_status, 0)"
                + " from webhook_deliveries where position = 1"))
                .containsExactly(overtaken ? "1 pending 500" : "1 delivered 204");
    }

    @Test
    void releasedEndpointIsTakenOverAtOnce() throws Exception {
        queue(id(endpoint("in")), 1);
        receiver.then(Receiver.HANG);
        DeliverySender one = sender(PACE);
        FutureTask<Boolean> ended = new FutureTask<>(() -> one.claim(1).getFirst().serve());
        Thread thread = Thread.startVirtualThread(ended);
        Awaitility.await().until(() -> receiver.got().size() == 1);

        thread.interrupt();
        assertThatThrownBy(ended::get).hasCauseInstanceOf(InterruptedException.class);

        assertThat(sender(PACE).claim(1).getFirst().serve()).isFalse();
        assertThat(receiver.got()).extracting(Receiver.Got::id).hasSize(2).containsOnly(receiver.got().getFirst().id());
        assertThat(all("select state from webhook_deliveries")).containsExactly("delivered");
    }

    @Test
    void whileASecretIsReplacedBothSign() throws Exception {
        Webhook first = endpoint("in");
        UUID to = id(first);
        queue(to, 1);
        Webhook second = endpoints.rotate(WORKSPACE, to, AuditOrigin.SERVER).orElseThrow();
        serveAll(sender(PACE));

        sql("update webhook_endpoints set previous_until = clock_timestamp()");
        deliveries.again(WORKSPACE, to, Deliveries.idOf(to, 1));
        serveAll(sender(PACE));

        assertThat(receiver.got()).extracting(got -> got.signature().split(" ").length).containsExactly(2, 1);
        assertThat(receiver.got()).extracting(got -> got.signedBy(second.secret())).containsExactly(1L, 1L);
        assertThat(receiver.got()).extracting(got -> got.signedBy(first.secret())).containsExactly(1L, 0L);
        assertThat(all("select encode(sealed, 'escape') || encode(previous, 'escape') from webhook_endpoints"))
                .noneMatch(text -> text.contains("whsec_"));
    }

    @Test
    void newSealingKeyReencryptsSecrets() {
        SealingKey old = SealingKey.fresh();
        SealingKey present = SealingKey.fresh();
        Endpoints before = new Endpoints(database, new SecretStore(database, old, List.of()));
        before.create(WORKSPACE, UUID.randomUUID(),
                change(receiver.url(), Optional.of(List.of("*"))), AuditOrigin.SERVER);
        UUID lost = id(endpoint("in"));

        new Endpoints(database, new SecretStore(database, present, List.of(old))).reseal();

        assertThat(all("select key_id from webhook_endpoints where id <> '" + lost + "'"))
                .containsExactly(present.id());
        assertThat(all("select key_id from webhook_endpoints where id = '" + lost + "'"))
                .doesNotContain(present.id());
    }

    /** What went in came out, once where no lease was lost, and each endpoint's in its order. */
    @Test
    void severalNodesShareTheEndpoints() throws Exception {
        int each = 20;
        List<UUID> to = IntStream.range(0, 6).mapToObj(i -> id(endpoint(String.valueOf(i)))).toList();
        to.forEach(id -> queue(id, each));
        DeliveryPolicy shortTurns =
                new DeliveryPolicy(PACE.timeout(), PACE.lease(), PACE.delays(), 3, PACE.failingLimit(), PACE.most());
        try (var nodes = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 3; i++) {
                DeliverySender node = sender(shortTurns);
                nodes.submit(() -> {
                    for (List<DeliverySender.EndpointBatch> turns = node.claim(2); open(); turns = node.claim(2)) {
                        for (DeliverySender.EndpointBatch endpointBatch : turns) {
                            endpointBatch.serve();
                        }
                    }
                    return true;
                });
            }
        }
        for (int i = 0; i < to.size(); i++) {
            String path = "/" + i;
            assertThat(receiver.got().stream().filter(got -> got.path().equals(path)).map(Receiver.Got::body))
                    .containsExactlyElementsOf(numbers(each));
        }
        Set<String> ids = new TreeSet<>(receiver.got().stream().map(Receiver.Got::id).toList());
        assertThat(ids).hasSize(each * to.size());
    }

    private boolean open() {
        return !all("select 1 from webhook_deliveries where state = 'pending' limit 1").isEmpty();
    }

    @Test
    void oldDeliveriesAreDeleted() throws Exception {
        queue(id(endpoint("in")), 3);
        serveAll(sender(PACE));
        sql("update webhook_deliveries set completed_at = completed_at - interval '31 days' where position = 2");

        deliveries.forget();

        assertThat(all("select position from webhook_deliveries order by position")).containsExactly("1", "3");
    }
}
