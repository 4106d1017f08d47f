package io.keelson.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.cli.models.DevModelStart;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import picocli.CommandLine.ParameterException;

/**
 * A server and the command line in one process, in the folder where the commands of the documents run. A command costs
 * milliseconds this way; it arrives as its arguments, each ended by a zero byte, and its answer begins with its exit code.
 */
final class DocsHost {

    private DocsHost() {}

    /** @param arguments the file to write the port to */
    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(System.getenv("HOME"));
        Map<String, String> settings = new HashMap<>(System.getenv());
        settings.put("KEELSON_MODELS", models(home).toString());
        Server.start(Settings.load(settings, home, Path.of("").toAbsolutePath()));
        HttpServer commands = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        commands.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        commands.createContext("/run", exchange -> answer(exchange, DocsHost::run));
        commands.createContext("/parse", exchange -> answer(exchange, DocsHost::parse));
        commands.start();
        Path made = Path.of(arguments[0] + ".new");
        Files.writeString(made, Integer.toString(commands.getAddress().getPort()));
        Files.move(made, Path.of(arguments[0]));
        System.in.read();
        System.exit(0);
    }

    /** The models of the first mission, answered by dev-model at a free port. */
    private static Path models(Path home) throws IOException {
        Path example = Path.of("examples", "first-mission");
        int port =
                DevModelStart.start("127.0.0.1", 0, example.resolve("script.yaml").toString(), null, Clock.systemUTC());
        return Files.writeString(home.resolve("models.yaml"), Files.readString(example.resolve("models.yaml"))
                .replace("127.0.0.1:7332", "127.0.0.1:" + port));
    }

    private interface Words {
        String answer(String... words);
    }

    private static void answer(HttpExchange exchange, Words words) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String[] all = Stream.of(body.split("\0", -1)).limit(body.chars().filter(c -> c == 0).count())
                .toArray(String[]::new);
        byte[] text = words.answer(all).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    private static String run(String... words) {
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        int code = Cli.run(writer, writer, Clock.systemUTC(), Map.of("HOME", System.getenv("HOME")), words);
        return code + "\n" + out;
    }

    private static String parse(String... words) {
        try {
            Cli.commandLine(Clock.systemUTC(), Map.of()).parseArgs(words);
            return "0\n";
        } catch (ParameterException e) {
            return "2\n" + Arrays.toString(words) + ": " + e.getMessage() + "\n";
        }
    }
}
