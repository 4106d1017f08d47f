package io.keelson.server.engine.upkeep;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.Nodes;
import io.keelson.server.engine.upkeep.ClusterNotifier.Notification;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

class ClusterNotifierTest {
    private static final Set<Notification> ALL = EnumSet.allOf(Notification.class);
    private static final String LISTENERS = """
            select count(*) from pg_stat_activity
             where datname = current_database() and query = 'listen keelson'""";

    /** A bell, and what it has heard since it began to listen. */
    private record Node(ClusterNotifier notifier, BlockingQueue<Set<Notification>> heard) {
        static Node of(Database database, String name) {
            BlockingQueue<Set<Notification>> heard = new LinkedBlockingQueue<>();
            return new Node(new ClusterNotifier(database, name, heard::add), heard);
        }

        void inCompany() throws InterruptedException {
            notifier.peersPresent(true);
            assertThat(next()).as("notifications before it listened").isEqualTo(ALL);
        }

        Set<Notification> next() throws InterruptedException {
            return heard.poll(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void otherNodesAreNotifiedAndTheSenderIsNot() throws Exception {
        try (Database database = TestDatabase.create()) {
            Node one = Node.of(database, "node:one");
            Node other = Node.of(database, "node:other");
            try (ClusterNotifier _ = one.notifier; ClusterNotifier _ = other.notifier) {
                one.inCompany();
                other.inCompany();
                one.notifier.ring(Notification.WORK);
                assertThat(other.next()).containsExactly(Notification.WORK);
                other.notifier.ring(Notification.END);
                assertThat(one.next()).containsExactly(Notification.END);
                one.notifier.ring(Notification.END);
                assertThat(other.next()).containsExactly(Notification.END);
                assertThat(one.heard).isEmpty();
            }
        }
    }

    @Test
    void manyCallsAreFewMessages() throws Exception {
        try (Database database = TestDatabase.create(); Connection listening = listening(database);
                ClusterNotifier notifier = new ClusterNotifier(database, "node:one", calls -> {
                })) {
            notifier.peersPresent(true);
            long begun = System.nanoTime();
            List<String> said = new ArrayList<>();
            long rung = 0;
            while (said.size() < 10) {
                for (int i = 0; i < 1_000; i++, rung += 2) {
                    notifier.ring(Notification.WORK);
                    notifier.ring(Notification.END);
                }
                said.addAll(whatHasCome(listening));
            }
            long millis = (System.nanoTime() - begun) / 1_000_000;
            assertThat(rung).isGreaterThan(said.size());
            assertThat(said.size()).isLessThanOrEqualTo((int) (millis / 20) + 1);
            assertThat(said).allMatch(each -> each.startsWith("node:one ")).anyMatch(each -> each.contains("work"))
                    .anyMatch(each -> each.contains("end"));
        }
    }

    @Test
    void singleNodeNeitherNotifiesNorListens() throws Exception {
        try (Database database = TestDatabase.create(); Connection listening = listening(database)) {
            Node one = Node.of(database, "node:one");
            Node other = Node.of(database, "node:other");
            try (ClusterNotifier _ = one.notifier; ClusterNotifier _ = other.notifier) {
                one.notifier.ring(Notification.WORK);
                one.inCompany();
                other.inCompany();
                one.notifier.peersPresent(false);
                Awaitility.await().until(() -> ask(database, LISTENERS) == 2);
                other.notifier.ring(Notification.WORK);
                one.notifier.ring(Notification.END);
                assertThat(hear(listening, 1)).as("what was called alone is not caught up with")
                        .containsExactly("node:other work");
                assertThat(one.heard).isEmpty();
                one.inCompany();
                other.notifier.ring(Notification.END);
                assertThat(one.next()).containsExactly(Notification.END);
            }
        }
    }

    /** After a lost connection, all notifications count as received. */
    @Test
    void aLostConnectionIsReplaced() throws Exception {
        try (Database database = TestDatabase.create()) {
            Node one = Node.of(database, "node:one");
            Node other = Node.of(database, "node:other");
            try (ClusterNotifier _ = one.notifier; ClusterNotifier _ = other.notifier) {
                one.inCompany();
                other.inCompany();
                one.notifier.ring(Notification.WORK);
                assertThat(other.next()).containsExactly(Notification.WORK);
                assertThat(ask(database, """
                        select count(pg_terminate_backend(pid)) from pg_stat_activity
                         where datname = current_database() and pid <> pg_backend_pid()
                           and query ~ 'listen keelson|pg_notify'""")).as("two ears and a voice").isEqualTo(3);
                assertThat(one.next()).isEqualTo(ALL);
                assertThat(other.next()).isEqualTo(ALL);
                Awaitility.await().untilAsserted(() -> {
                    one.notifier.ring(Notification.END);
                    assertThat(other.heard.poll(1, TimeUnit.SECONDS)).contains(Notification.END);
                });
            }
        }
    }

    /** A connection dropped by the network is as silent as one without notifications. */
    @Test
    void notifierProbesItsConnection() throws Exception {
        try (Database database = TestDatabase.create();
                ClusterNotifier notifier = new ClusterNotifier(database, "node:one", calls -> {
                }, Duration.ofMillis(1))) {
            notifier.peersPresent(true);
            String asked = "select count(*) from pg_stat_activity where query = 'listen keelson'"
                    + " and datname = current_database() and query_start > backend_start + interval '1 second'";
            Awaitility.await().until(() -> ask(database, asked) == 1);
        }
    }

    @Test
    void malformedNotificationIsIgnored() throws Exception {
        try (Database database = TestDatabase.create()) {
            Node one = Node.of(database, "node:one");
            try (ClusterNotifier _ = one.notifier; Connection other = database.dedicatedConnection();
                    var said = other.createStatement()) {
                one.inCompany();
                for (String payload : List.of("", " ", "node:two", "node:two party", "node:two work")) {
                    said.execute("select pg_notify('keelson', '" + payload + "')");
                }
                assertThat(one.next()).containsExactly(Notification.WORK);
                assertThat(one.heard).isEmpty();
            }
        }
    }

    /**
     * What a node does not take itself, and what others may wait for, is called; a node that hears it looks. The end of a run that one commit
     * has created and ended is not called: no other node knew the run.
     */
    @Test
    void enginesRing(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder); Connection listening = listening(nodes.database)) {
            Engine one = nodes.node();
            Engine other = nodes.node();
            one.upkeep().keepLeases();
            UUID run = nodes.submit(one, """
                    name: far
                    plan: {tasks: [{id: a, steps: [{tool: noop}, {tool: far.away}]}]}
                    """, "far.away");
            assertThat(hear(listening, 1)).first().isEqualTo(one.node() + " work");
            UUID known = nodes.submit(one, """
                    name: in one commit
                    plan: {tasks: [{id: a, steps: [{tool: noop}]}]}
                    """);
            assertThat(nodes.state(known)).isEqualTo("completed");
            nodes.submit(other, """
                    name: near
                    plan: {tasks: [{id: a, chain: false, steps: [{tool: noop}]}]}
                    """);
            assertThat(hear(listening, 1)).containsOnly(other.node() + " end");
            assertThat(nodes.state(run)).isEqualTo("running");
            other.settingsChanged();
            assertThat(hear(listening, 1)).containsExactly(other.node() + " settings");
        }
    }

    private static Connection listening(Database database) throws Exception {
        Connection connection = database.dedicatedConnection();
        try (var statement = connection.createStatement()) {
            statement.execute("listen " + ClusterNotifier.CHANNEL);
        }
        return connection;
    }

    /** So many messages at least, and those that have come with them. */
    private static List<String> hear(Connection listening, int atLeast) throws Exception {
        List<String> said = new ArrayList<>();
        Awaitility.await().atMost(20, TimeUnit.SECONDS).until(() -> {
            List<String> come = whatHasCome(listening);
            said.addAll(come);
            return said.size() >= atLeast && come.isEmpty();
        });
        return said;
    }

    private static List<String> whatHasCome(Connection listening) throws Exception {
        PGNotification[] come = listening.unwrap(PGConnection.class).getNotifications(10);
        return come == null ? List.of() : Stream.of(come).map(PGNotification::getParameter).toList();
    }

    private static long ask(Database database, String sql) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                row.next();
                return row.getLong(1);
            }
        });
    }
}
