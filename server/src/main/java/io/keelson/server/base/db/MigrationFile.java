package io.keelson.server.base.db;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.flywaydb.core.api.MigrationInfo;

/**
 * A numbered file of the schema.
 *
 * @param checksum of its content
 * @param applied whether the database has it
 * @param text its SQL
 */
public record MigrationFile(int version, int checksum, boolean applied, String text) {

    static MigrationFile of(MigrationInfo info) {
        return new MigrationFile(Integer.parseInt(Objects.requireNonNull(info.getVersion()).toString()),
                Objects.requireNonNull(info.getResolvedChecksum()), info.getState().isApplied(),
                read(info.getScript()));
    }

    private static String read(String script) {
        try (InputStream file = MigrationFile.class.getResourceAsStream("/db/schema/" + script)) {
            return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
