package io.keelson.server.engine.store.archive;

import io.keelson.server.base.artifact.ArtifactRules;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.archive.ArchiveException.Problem;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** The content of a run in the archive; reads it line by line. Every line counts for the manifest at its end. */
final class ArchivedContent {

    private static final Map<String, RunTables.Table> TABLES =
            RunTables.ALL.stream().collect(Collectors.toMap(RunTables.Table::name, Function.identity()));

    private static final int BATCH_ROWS = 500;
    private static final int BATCH_CHARS = 2 << 20;
    private static final String TABLE = "{\"t\":\"";
    private static final String ROW = "\",\"r\":";

    private final UUID run;
    private final byte[] bytes;

    /** @param bytes whose digest has been compared */
    ArchivedContent(UUID run, byte[] bytes) {
        this.run = run;
        this.bytes = bytes;
    }

    /** Takes the rows of a table; the last call for a table is followed by none for it. */
    private interface Rows {
        void take(RunTables.Table table, List<String> columns, String json) throws SQLException;
    }

    /** Compares all lines with the manifest; returns the number of rows. */
    long verify() throws IOException {
        try {
            return each((_, _, _) -> {});
        } catch (SQLException e) {
            throw new IllegalStateException("no statement", e);
        }
    }

    /** Inserts all rows, within the transaction of the connection. */
    void insert(Connection c) throws SQLException, IOException {
        TableColumns own = TableColumns.of(c);
        each((table, columns, json) -> {
            List<String> unknown = own.unknown(table, columns);
            if (!unknown.isEmpty()) {
                throw new SQLException("the archive has columns of " + table.name() + " that this database lacks: "
                        + unknown);
            }
            try (PreparedStatement statement = c.prepareStatement(own.insert(table, columns))) {
                statement.setString(1, json);
                statement.executeUpdate();
            }
        });
    }

    private long each(Rows rows) throws SQLException, IOException {
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(new GZIPInputStream(new ByteArrayInputStream(bytes)), StandardCharsets.UTF_8))) {
            JsonNode facts = document(lines.readLine());
            if (facts.path("keelson_archive").asInt(0) > ArchivedRows.FORMAT) {
                throw new ArchiveException(Problem.NEWER, "run " + run + " was archived by a newer version");
            }
            if (!facts.path("run_id").asString("").equals(run.toString())) {
                throw damaged("is that of another run");
            }
            List<ArchivedRows.Sum> sums = new ArrayList<>();
            Batch batch = new Batch(rows, facts.path("columns"));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(TABLE)) {
                    batch.add(line);
                    continue;
                }
                batch.end();
                document(line).path("manifest").forEach(each -> sums.add(new ArchivedRows.Sum(
                        each.path("table").asString(""), each.path("rows").asLong(0),
                        each.path("sha256").asString(""))));
            }
            if (sums.isEmpty() || !batch.matches(sums)) {
                throw damaged("does not have the rows of its manifest");
            }
            return sums.stream().mapToLong(ArchivedRows.Sum::rows).sum();
        }
    }

    private JsonNode document(@Nullable String line) throws ArchiveException {
        try {
            return Json.read(String.valueOf(line));
        } catch (JacksonException e) {
            throw damaged("has a line that is no JSON");
        }
    }

    private ArchiveException damaged(String why) {
        return new ArchiveException(Problem.DAMAGED, "the archive of run " + run + " " + why);
    }

    /** Rows of one table that are inserted together. */
    private final class Batch {
        private final Rows rows;
        private final JsonNode columns;
        private final StringBuilder json = new StringBuilder();
        private final List<ArchivedRows.Sum> sums = new ArrayList<>();
        private MessageDigest digest = ArtifactRules.sha256();
        private RunTables.@Nullable Table table;
        private int waiting;
        private long count;

        private Batch(Rows rows, JsonNode columns) {
            this.rows = rows;
            this.columns = columns;
        }

        private void add(String line) throws SQLException, ArchiveException {
            int end = line.indexOf(ROW);
            RunTables.Table of = end < 0 ? null : TABLES.get(line.substring(TABLE.length(), end));
            if (of == null) {
                throw new ArchiveException(Problem.NEWER,
                        "run " + run + " has rows of a table that this version lacks");
            }
            if (!of.equals(table)) {
                end();
                table = of;
            }
            json.append(waiting == 0 ? '[' : ',').append(line, end + ROW.length(), line.length() - 1);
            digest.update((line + "\n").getBytes(StandardCharsets.UTF_8));
            count++;
            if (++waiting >= BATCH_ROWS || json.length() >= BATCH_CHARS) {
                flush();
            }
        }

        private void flush() throws SQLException {
            if (table != null && waiting > 0) {
                List<String> names = new ArrayList<>();
                columns.path(table.name()).forEach(each -> names.add(each.asString()));
                rows.take(table, names, json.append(']').toString());
                json.setLength(0);
                waiting = 0;
            }
        }

        private void end() throws SQLException {
            flush();
            if (table != null) {
                sums.add(new ArchivedRows.Sum(table.name(), count, HexFormat.of().formatHex(digest.digest())));
                digest = ArtifactRules.sha256();
                count = 0;
                table = null;
            }
        }

        /** The manifest also lists tables without rows. */
        private boolean matches(List<ArchivedRows.Sum> manifest) {
            return manifest.stream().filter(each -> each.rows() > 0).toList().equals(sums);
        }
    }
}
