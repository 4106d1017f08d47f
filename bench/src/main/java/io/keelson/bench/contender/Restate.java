package io.keelson.bench.contender;

import dev.restate.client.Client;
import dev.restate.common.Request;
import dev.restate.common.Target;
import dev.restate.sdk.Context;
import dev.restate.sdk.HandlerRunner;
import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.endpoint.definition.HandlerDefinition;
import dev.restate.sdk.endpoint.definition.HandlerType;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import dev.restate.sdk.endpoint.definition.ServiceType;
import dev.restate.sdk.http.vertx.RestateHttpServer;
import dev.restate.serde.Serde;
import dev.restate.serde.TypeTag;
import dev.restate.serde.jackson.JacksonSerdeFactory;
import io.keelson.bench.server.Poll;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Restate: its server in a process of its own, the handlers' endpoint and the client here. */
final class Restate implements Contender {
    private static final Duration START = Duration.ofSeconds(60);
    private static final int STEPS = 10;
    private static final String LOOPBACK = "127.0.0.1";

    private final HttpClient http = HttpClient.newHttpClient();
    private final String admin = "http://" + LOOPBACK + ":" + freePort();
    private final String ingress = "http://" + LOOPBACK + ":" + freePort();
    private final Process server;
    private final HttpServer endpoint;
    private final Client client;

    Restate(Place place) throws Exception {
        Path program = RestateProgram.in(Path.of(place.cache()));
        ProcessBuilder builder = new ProcessBuilder(program.toString(), "--no-logo", "--listen-mode", "tcp",
                "--base-dir", Path.of(place.folder(), "restate").toString(), "--bind-ip", LOOPBACK,
                "--bind-port", Integer.toString(freePort()), "--node-name", "bench");
        builder.environment().put("RESTATE_ADMIN__BIND_ADDRESS", admin.substring("http://".length()));
        builder.environment().put("RESTATE_INGRESS__BIND_ADDRESS", ingress.substring("http://".length()));
        builder.environment().put("RESTATE_DISABLE_TELEMETRY", "true");
        builder.environment().put("RUST_LOG", "warn");
        builder.redirectErrorStream(true).redirectOutput(Redirect.to(Path.of(place.folder(), "restate.log").toFile()));
        server = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(server::destroyForcibly));
        endpoint = RestateHttpServer.fromEndpoint(Endpoint.bind(flows())).listen(0, LOOPBACK).toCompletionStage()
                .toCompletableFuture().get();
        Poll.until(START, () -> server.isAlive() && registered());
        client = Client.connect(ingress);
        Poll.until(START, this::answers);
    }

    private static ServiceDefinition flows() {
        HandlerRunner<Void, Integer> tenSteps = HandlerRunner.of((Context context) -> {
            int sum = 0;
            for (int i = 0; i < STEPS; i++) {
                int number = i;
                sum += context.run("step-" + i, Integer.class, () -> number);
            }
            return sum;
        }, JacksonSerdeFactory.DEFAULT, HandlerRunner.Options.DEFAULT);
        return ServiceDefinition.of("Flows", ServiceType.SERVICE, List.of(HandlerDefinition.of("tenSteps",
                HandlerType.SHARED, Serde.VOID, JacksonSerdeFactory.DEFAULT.create(Integer.class), tenSteps)));
    }

    private boolean registered() throws InterruptedException {
        String body = "{\"uri\": \"http://" + LOOPBACK + ":" + endpoint.actualPort() + "\"}";
        try {
            HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create(admin + "/deployments"))
                    .header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)).build(),
                    BodyHandlers.ofString());
            return answer.statusCode() / 100 == 2;
        } catch (IOException e) {
            return false;
        }
    }

    private boolean answers() {
        try {
            tenSteps();
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    private void tenSteps() {
        client.call(Request.of(Target.service("Flows", "tenSteps"), TypeTag.of(Serde.VOID),
                TypeTag.of(Integer.class), null).build());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public WorkloadResult load(Load load) throws Exception {
        if (load.work() != Work.TEN_STEPS) {
            throw new UnsupportedOperationException("Restate is not measured with " + load.work());
        }
        return Callers.measure(load, Thread.ofVirtual().factory(), this::tenSteps);
    }

    @Override
    public void close() throws InterruptedException {
        endpoint.close();
        server.destroy();
        if (!server.waitFor(20, TimeUnit.SECONDS)) {
            server.destroyForcibly();
        }
    }
}
