package io.keelson.server.annex.postgres;

import io.keelson.server.base.db.DatabaseException;
import java.nio.file.Path;
import java.util.Map;

/** A JVM that runs an embedded PostgreSQL until its standard input ends: arguments are data directory and binaries. */
public final class HolderMain {

    private HolderMain() {}

    /** Prints one line: {@code UP} and the database's host and port, or the code of the refusal. */
    public static void main(String[] arguments) throws Exception {
        var options = new EmbeddedPostgresOptions(Path.of(arguments[0]), Path.of(arguments[1]), Map.of("fsync", "off"),
                false);
        try (var postgres = EmbeddedPostgres.start(options)) {
            System.out.println("UP " + postgres.url().hosts());
            System.in.readAllBytes();
        } catch (DatabaseException e) {
            System.out.println(e.code() + " " + e.getMessage());
        }
    }
}
