package io.keelson.cli.common;

import io.keelson.client.Keelson;
import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import io.keelson.server.app.DataFolder;
import io.keelson.server.app.InstalledDatabase;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Connection to a server: the one at KEELSON_URL, else the data folder's server if it responds, else, for commands that
 * change state, a server that is started inside this process and stopped with it. Only commands that execute a mission make a
 * new installation. At any end of this process, its own
 * server releases its work.
 */
public final class ServerConnection implements AutoCloseable {

    /** The purpose of a server that the command starts. */
    public enum Work {
        /** An own server executes runs. It makes the installation if absent. */
        ALL,
        /** An own server of an installation that exists executes runs. */
        CONTINUE,
        /** An own server of an installation that exists only answers; steps wait for another server. */
        NONE,
        /** None is started. */
        OF_RUNNING_SERVER
    }

    private static final Duration PROBE = Duration.ofSeconds(2);
    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Settings settings;
    private final Work work;
    private final Consumer<String> news;
    private final Thread hook = new Thread(this::interrupt, "keelson-interrupt");
    private volatile boolean interrupted;
    private volatile Runnable whenInterrupted;
    private volatile @Nullable Server own;
    private volatile Keelson keelson;

    private ServerConnection(Settings settings, Work work, Consumer<String> news) {
        this.settings = settings;
        this.work = work;
        this.news = news;
        this.whenInterrupted = () -> news.accept("interrupted before a server responded; no run was created");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            this.keelson = connect(Duration.ZERO);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        this.whenInterrupted = () -> {
        };
    }

    /** @param news receives progress texts for people */
    public static ServerConnection open(Settings settings, Work work, Consumer<String> news) {
        return new ServerConnection(settings, work, news);
    }

    /** The server that is known and there, however busy; null when there is none. Starts none. */
    public static @Nullable Keelson find(Settings settings) {
        if (settings.client().url() != null) {
            return client(settings, settings.client().url());
        }
        String url = read(settings.dataDir().resolve("url"));
        if (url == null) {
            return null;
        }
        boolean present = Keelson.builder().url(url).timeout(PROBE).build().present();
        return present ? client(settings, url) : null;
    }

    /** Connects to a server that must exist. */
    public static Keelson existing(Settings settings) {
        Keelson found = find(settings);
        if (found == null) {
            throw noServer(settings);
        }
        return found;
    }

    private static CliException noServer(Settings settings) {
        return CliException.failed("NO_SERVER", "no server is running for the data folder " + settings.dataDir()
                + ": start one with `" + ProgramName.current() + " server`, or set KEELSON_URL");
    }

    private static CliException noInstallation(Settings settings) {
        return CliException.failed("NO_SERVER", "no server is running for the data folder " + settings.dataDir()
                + ", and it has no installation: set KEELSON_DATA_DIR to the folder of one, or KEELSON_URL, or make one with `"
                + ProgramName.current() + " server`");
    }

    public Keelson keelson() {
        return keelson;
    }

    /** Whether the server lives in this process. */
    public boolean own() {
        return own != null;
    }

    /** True once this process is shutting down. */
    public boolean interrupted() {
        return interrupted;
    }

    /** Sets the action for Ctrl-C or SIGTERM, which runs before the server of this process stops. */
    public void whenInterrupted(Runnable action) {
        this.whenInterrupted = action;
    }

    /**
     * Reconnects after a lost connection. Only waits for a server at KEELSON_URL; instead of the
     * data folder's, which may just be restarting, one of our own is started after a while.
     */
    public void reopen() {
        if (settings.client().url() == null && own == null) {
            keelson = connect(START_TIMEOUT);
        }
    }

    private Keelson connect(Duration timeout) {
        Keelson found = find(settings);
        long deadline = System.nanoTime() + timeout.toNanos();
        while (found == null && System.nanoTime() < deadline) {
            Sleep.of(PAUSE);
            found = find(settings);
        }
        if (found == null && work == Work.OF_RUNNING_SERVER) {
            throw noServer(settings);
        }
        if (found == null && work != Work.ALL && !InstalledDatabase.exists(settings)) {
            throw noInstallation(settings);
        }
        try {
            return found == null ? start() : found;
        } catch (StartupException e) {
            throw CliException.startup(e);
        }
    }

    /** Two that start at once: one gets the data folder, the other waits for it and then talks to it. */
    private Keelson start() throws StartupException {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        boolean unpacks = settings.databaseUrl() == null
                && !EmbeddedPostgres.unpacked(EmbeddedPostgresOptions.lasting(settings.dataDir()));
        news.accept("starting a server for this command…" + (unpacks
                ? " its first start unpacks PostgreSQL into " + settings.dataDir()
                : ""));
        while (true) {
            try {
                return startOwn();
            } catch (StartupException e) {
                Keelson other = find(settings);
                if (other != null) {
                    return other;
                }
                if (!e.code().equals("DATA_DIR_IN_USE") || System.nanoTime() > deadline) {
                    throw e;
                }
                Sleep.of(PAUSE);
            }
        }
    }

    private Keelson startOwn() throws StartupException {
        Settings mine = withWorkingFolder(settings.withHttp("127.0.0.1", 0));
        logToFile(mine);
        Server server = Server.start(work == Work.NONE ? mine.withoutExecutors() : mine);
        own = server;
        return Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    /** A server of our own may read what its only user may: the working folder where no other is allowed. */
    private static Settings withWorkingFolder(Settings settings) {
        if (!settings.tools().folders().allowed().isEmpty()) {
            return settings;
        }
        List<Path> folders = new ArrayList<>(List.of(Path.of("").toAbsolutePath()));
        folders.addAll(settings.tools().folders().ofUser());
        return settings.withFoldersOfUser(folders);
    }

    private static void logToFile(Settings settings) throws StartupException {
        try {
            DataFolder.create(settings.dataDir());
            Logging.toFile(settings, settings.dataDir().resolve("keelson-run.log"));
        } catch (IOException e) {
            throw DataFolder.unusable(settings.dataDir(), e);
        }
    }

    private static Keelson client(Settings settings, String url) {
        String key = settings.client().apiKey() != null || !loopback(url) ? settings.client().apiKey()
                : settings.keys().bootstrapText() != null ? settings.keys().bootstrapText()
                        : read(settings.dataDir().resolve("api-key"));
        return Keelson.builder().url(url).apiKey(key).build();
    }

    /** The data folder's key is for servers on this machine and is sent to no other. */
    private static boolean loopback(String url) {
        try {
            String host = URI.create(url).getHost();
            return host != null && InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static @Nullable String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            throw CliException.failed("DATA_DIR_UNREADABLE", "cannot read " + file + ": " + FileProblems.reason(e), e);
        }
    }

    private void interrupt() {
        interrupted = true;
        whenInterrupted.run();
        if (own == null) {
            // a server that is still starting has no other way to end its child processes
            ProcessHandle.current().descendants().forEach(ProcessHandle::destroy);
        }
        closeServer();
    }

    @Override
    public void close() {
        if (!interrupted) {
            Runtime.getRuntime().removeShutdownHook(hook);
            closeServer();
        }
    }

    private void closeServer() {
        Server server = own;
        if (server != null) {
            server.close();
        }
    }
}
