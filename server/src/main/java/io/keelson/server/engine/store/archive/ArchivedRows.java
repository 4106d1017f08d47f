package io.keelson.server.engine.store.archive;

import io.keelson.server.base.artifact.ArtifactRules;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads all rows of a run, and writes them in the format of the archive (docs/reference/archive-format.md): JSON Lines in gzip, a line
 * of facts, a line for each row, and the manifest.
 */
final class ArchivedRows {

    /** The version of the format. */
    static final int FORMAT = 1;

    /** The most bytes of a run, compressed. */
    static final int MAX_BYTES = 48 << 20;

    private static final int FETCHED_ROWS = 200;

    /** Tables whose rows have routes of their own. */
    private static final Set<String> PARTS =
            Set.of("orchestration_tasks", "task_steps", "escalation_tickets", "proposals", "agent_reports");

    /** A run that has more than {@link #MAX_BYTES}. */
    static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1L;
    }

    /** @param sha256 of the lines of the rows, in the order of their keys */
    record Sum(String table, long rows, String sha256) {}

    /**
     * A run as it was read.
     *
     * @param content in the format; empty if it was read for the sums only
     */
    record Run(byte[] content, List<Sum> sums, List<UUID> parts) {}

    /** Stops at the limit. */
    private static final class Bounded extends OutputStream {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            if (bytes.size() + length > MAX_BYTES) {
                throw new TooLargeException();
            }
            bytes.write(from, offset, length);
        }
    }

    private final Connection c;
    private final TableColumns columns;

    ArchivedRows(Connection c, TableColumns columns) {
        this.c = c;
        this.columns = columns;
    }

    /** All rows of a run; within one snapshot. */
    Run read(UUID workspace, UUID run) throws SQLException, IOException {
        Bounded content = new Bounded();
        List<Sum> sums = new ArrayList<>();
        List<UUID> parts = new ArrayList<>();
        try (GZIPOutputStream out = new GZIPOutputStream(content)) {
            line(out, facts(workspace, run).toString());
            for (RunTables.Table table : RunTables.ALL) {
                sums.add(rows(table, run, out, parts));
            }
            line(out, manifest(sums).toString());
        }
        return new Run(content.bytes.toByteArray(), sums, parts);
    }

    /** The sums of the rows that a run has now. */
    List<Sum> sums(UUID run) throws SQLException, IOException {
        List<Sum> sums = new ArrayList<>();
        for (RunTables.Table table : RunTables.ALL) {
            sums.add(rows(table, run, null, null));
        }
        return sums;
    }

    private ObjectNode facts(UUID workspace, UUID run) {
        ObjectNode facts = Json.object();
        facts.put("keelson_archive", FORMAT).put("run_id", run.toString()).put("workspace_id", workspace.toString())
                .put("schema", Migrations.NEWEST);
        ObjectNode tables = facts.putObject("columns");
        RunTables.ALL.forEach(table -> tables.set(table.name(), Json.strings(columns.names(table))));
        return facts;
    }

    private static ObjectNode manifest(List<Sum> sums) {
        ObjectNode manifest = Json.object();
        ArrayNode tables = manifest.putArray("manifest");
        sums.forEach(each -> tables.addObject().put("table", each.table).put("rows", each.rows)
                .put("sha256", each.sha256));
        return manifest;
    }

    private Sum rows(RunTables.Table table, UUID run, @Nullable OutputStream out, @Nullable List<UUID> parts)
            throws SQLException, IOException {
        List<String> names = columns.names(table);
        MessageDigest digest = ArtifactRules.sha256();
        long count = 0;
        try (PreparedStatement statement = c.prepareStatement(columns.select(table))) {
            statement.setFetchSize(FETCHED_ROWS);
            for (int i = 1; i <= table.parameters(); i++) {
                statement.setObject(i, run);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    byte[] line = line(table, names, row);
                    digest.update(line);
                    if (out != null) {
                        out.write(line);
                    }
                    if (parts != null && PARTS.contains(table.name())) {
                        parts.add(UUID.fromString(row.getString(names.indexOf("id") + 1)));
                    }
                    count++;
                }
            }
        }
        return new Sum(table.name(), count, HexFormat.of().formatHex(digest.digest()));
    }

    /** Values are texts, as PostgreSQL writes them; a column that is null is absent. */
    private static byte[] line(RunTables.Table table, List<String> names, ResultSet row) throws SQLException {
        StringBuilder line = new StringBuilder("{\"t\":\"").append(table.name()).append("\",\"r\":{");
        String separator = "";
        for (int i = 0; i < names.size(); i++) {
            String value = row.getString(i + 1);
            if (value != null) {
                line.append(separator);
                quote(line, names.get(i));
                line.append(':');
                quote(line, value);
                separator = ",";
            }
        }
        return line.append("}}\n").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void quote(StringBuilder into, String text) {
        into.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                into.append('\\').append(c);
            } else if (c < ' ') {
                into.append("\\u00").append(HexFormat.of().toHexDigits((byte) c));
            } else {
                into.append(c);
            }
        }
        into.append('"');
    }

    private static void line(OutputStream out, String text) throws IOException {
        out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
