package io.keelson.process;

import io.keelson.ChildJvm;
import io.keelson.server.app.InstalledArtifacts;
import io.keelson.server.app.Settings;
import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.upkeep.RunArchiver;
import io.keelson.server.engine.upkeep.RunArchiver.Point;
import java.io.BufferedReader;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

/** The archiver of a server in a process of its own, with the server's settings. It stops at a point, to be killed there. */
final class ArchiverProcess {

    /** Half of the object is stored. */
    private static final String HALF = "HALF";

    private final Process process;
    private final BufferedReader said;

    /** @param point where it stops; another name for a whole pass */
    ArchiverProcess(Map<String, String> settings, String point) throws IOException {
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.addAll(List.of(ArchiverProcess.class.getName(), point));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(settings);
        process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        said = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Waits until it has said a line. */
    void await(String line) throws IOException {
        String next = said.readLine();
        while (next != null && !next.equals(line)) {
            next = said.readLine();
        }
        if (next == null) {
            throw new IOException("it ended with " + process.onExit().join().exitValue() + " before " + line);
        }
    }

    /** SIGKILL; no further instruction of it is executed. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** One pass by the settings of the environment. */
    public static void main(String[] arguments) throws Exception {
        Path here = Path.of("").toAbsolutePath();
        Settings settings = Settings.load(System.getenv(), here, here);
        RunArchiver.Observer observer = new RunArchiver.Observer() {
            @Override
            public void at(Point point) {
                stopAt(point.name(), arguments[0]);
            }
        };
        try (Database database = new Database(DatabaseUrl.parse(System.getenv("KEELSON_DATABASE_URL")),
                DatabaseOptions.DEFAULTS.withPoolSize(2)); InstalledArtifacts.Opened opened =
                        InstalledArtifacts.open(
                                settings)) {
            ArtifactStore store = arguments[0].equals(HALF) ? new HalfStore(opened.store()) : opened.store();
            new RunArchiver(database, new RunArchive(DbClock.DATABASE), store, settings.archive(), UUID::randomUUID,
                    observer).archive();
        }
        System.out.println("end");
    }

    private static void stopAt(String point, String wanted) {
        if (point.equals(wanted)) {
            System.out.println(point);
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Stops when the store has taken half of the content. */
    private record HalfStore(ArtifactStore store) implements ArtifactStore {

        @Override
        public StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content)
                throws IOException {
            byte[] all = content.readAllBytes();
            return store.put(owner, name, contentType, new FilterInputStream(InputStream.nullInputStream()) {
                private int next;

                @Override
                public int read() {
                    byte[] one = new byte[1];
                    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
                }

                @Override
                public int read(byte[] into, int offset, int length) {
                    Objects.checkFromIndexSize(offset, length, into.length);
                    if (next >= all.length / 2) {
                        stopAt(HALF, HALF);
                    }
                    int some = Math.min(Math.max(1, length), all.length / 2 - next);
                    System.arraycopy(all, next, into, offset, some);
                    next += some;
                    return some;
                }
            });
        }

        @Override
        public InputStream open(String storageKey) throws IOException {
            return store.open(storageKey);
        }

        @Override
        public boolean delete(String storageKey) throws IOException {
            return store.delete(storageKey);
        }

        @Override
        public void storedBefore(Instant time, Keys keys) throws IOException {
            store.storedBefore(time, keys);
        }

        @Override
        public long maxBytes() {
            return store.maxBytes();
        }
    }
}
