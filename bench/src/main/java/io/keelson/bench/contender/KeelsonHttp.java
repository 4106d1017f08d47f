package io.keelson.bench.contender;

import io.keelson.api.run.Run;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.bench.server.Poll;
import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import io.keelson.client.worker.Effects;
import io.keelson.client.worker.ToolSpec;
import io.keelson.client.worker.Worker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Keelson as its users have it: server processes (option {@code nodes}, 1) on one database, and here a client that
 * creates each run by {@code POST /runs}, which answers at its end. With option {@code slots} also a worker.
 */
final class KeelsonHttp implements Contender {
    private static final Duration RUN_TIMEOUT = Duration.ofMinutes(10);

    private final List<KeelsonServer> servers = new ArrayList<>();
    private final List<Keelson> clients = new ArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();
    private final Missions missions;
    private final @Nullable Worker worker;

    KeelsonHttp(Place place) throws Exception {
        missions = new Missions(place);
        for (int i = 1; i <= place.option("nodes", 1); i++) {
            KeelsonServer server = KeelsonServer.start(Path.of(place.folder(), "node-" + i), place.postgresUrl(),
                    place.jvm(), Map.of());
            servers.add(server);
            clients.add(server.client());
        }
        int slots = place.option("slots", 0);
        worker = slots == 0 ? null : worker(clients.getFirst(), slots);
    }

    /** Starts a worker and waits until the server lists it: a mission may only name tools that are served. */
    private static Worker worker(Keelson client, int slots) throws InterruptedException {
        Worker worker = Worker.builder(client)
                .tool(new ToolSpec(Missions.REMOTE_TOOL, "Does nothing", Map.of(), Effects.READ), step -> Map.of())
                .slots(slots).build();
        worker.start();
        Poll.until(Duration.ofSeconds(30), () -> !client.workers().isEmpty());
        return worker;
    }

    @Override
    public WorkloadResult load(Load load) throws Exception {
        Mission mission = missions.of(load.work());
        return Callers.measure(load, Thread.ofVirtual().factory(), () -> {
            Keelson client = clients.get(Math.floorMod(turn.getAndIncrement(), clients.size()));
            Run ended = client.runs().execute(mission, RUN_TIMEOUT);
            if (!ended.completed()) {
                throw new IllegalStateException("a run ended " + ended.state());
            }
        });
    }

    @Override
    public void keep(int count) throws InterruptedException {
        while (servers.size() > count) {
            clients.removeLast();
            servers.removeLast().close();
        }
    }

    @Override
    public void close() throws Exception {
        if (worker != null) {
            worker.close();
        }
        for (KeelsonServer server : servers) {
            server.close();
        }
    }
}
