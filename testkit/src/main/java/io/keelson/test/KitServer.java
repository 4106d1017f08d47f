package io.keelson.test;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import io.keelson.client.Keelson;
import io.keelson.devmodel.ScriptedModel;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.LoggerFactory;

/** The server of a class and its model. */
final class KitServer implements AutoCloseable {
    /** The name of the scripted model in missions. */
    static final String MODEL = "scripted";

    private final TestServer server;
    private final ScriptedModel model;
    private final Path models;

    private KitServer(TestServer server, ScriptedModel model, Path models) {
        this.server = server;
        this.model = model;
        this.models = models;
    }

    static KitServer start(Map<String, String> settings) throws IOException, StartupException {
        LibraryVersions.check();
        quiet();
        ScriptedModel model = new ScriptedModel(Clock.fixed(Instant.EPOCH, ZoneOffset.UTC));
        Path models = Files.createTempFile("keelson-models-", ".yaml");
        Files.writeString(models, model.file(MODEL));
        Map<String, String> all = new LinkedHashMap<>(settings);
        all.putIfAbsent("KEELSON_MODELS", models.toString());
        try {
            return new KitServer(TestServer.start(all), model, models);
        } catch (StartupException e) {
            model.close();
            Files.delete(models);
            throw e;
        }
    }

    /** Has the server log warnings only, unless a configuration of the tests has levels of its own. */
    private static void quiet() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            for (String name : List.of("io.keelson", "org.eclipse.jetty", "io.javalin", "com.zaxxer", "org.postgresql",
                    "org.flywaydb", "io.micrometer")) {
                Logger logger = context.getLogger(name);
                if (logger.getLevel() == null) {
                    logger.setLevel(Level.WARN);
                }
            }
        }
    }

    TestServer server() {
        return server;
    }

    ScriptedModel model() {
        return model;
    }

    Keelson client(String key) {
        return Keelson.builder().url(server.url().toString()).apiKey(key).build();
    }

    @Override
    public void close() throws IOException {
        server.close();
        model.close();
        Files.delete(models);
    }
}
