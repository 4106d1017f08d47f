package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.client.Keelson;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A shell beside a server of its own. Commands are called within this JVM, which takes milliseconds; what only a
 * process can show is the matter of {@link CliProcess}.
 */
public final class InProcessCli implements AutoCloseable {

    static {
        // the standard input of a test's process is Maven's, and does not end
        System.setIn(InputStream.nullInputStream());
    }

    private final Path folder;
    private final Server server;

    /** @param folder the data folder */
    public InProcessCli(Path folder) throws Exception {
        this(folder, TestDatabase.createUrl(), Map.of());
    }

    /** @param settings of the server, beside its data folder, port and database */
    public InProcessCli(Path folder, DatabaseUrl database, Map<String, String> settings) throws Exception {
        this.folder = folder;
        Map<String, String> all = new HashMap<>(settings);
        all.putAll(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL",
                TestDatabase.text(database)));
        server = Server.start(Settings.load(all, folder, folder));
    }

    /** The data folder, where any command finds the server. */
    Path folder() {
        return folder;
    }

    /** The same server for a program. */
    public Keelson client() {
        return Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    public Result run(String... arguments) {
        return run(Map.of("KEELSON_DATA_DIR", folder.toString()), arguments);
    }

    /** Runs a command that must succeed, and returns the lines of its output. */
    public List<String> lines(String... arguments) {
        Result result = run(arguments);
        assertThat(result.code()).as(result.err()).isZero();
        return result.out().lines().toList();
    }

    /** The path of a new mission, which needs no name. */
    String mission(String yaml) throws Exception {
        return CliProcess.mission(folder, yaml);
    }

    /** Any command, in this JVM. None that starts a server of its own, for that one moves the log of all. */
    public static Result run(Map<String, String> environment, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Cli.run(new PrintWriter(out), new PrintWriter(err), Clock.systemUTC(), environment, arguments);
        return new Result(code, out.toString(), err.toString());
    }

    @Override
    public void close() {
        server.close();
    }
}
