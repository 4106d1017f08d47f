package io.keelson.server.outlet.backup;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The content of a backup, as {@code backup.json} has it. Written last.
 *
 * @param format version of the layout; a reader refuses a higher one than its own
 * @param id of this backup
 * @param keelson version of the program that wrote it
 * @param postgres version of the database server
 * @param schema version of the schema: the number of its last migration file
 * @param schemaChecksum of the migration files up to that version
 * @param takenAt the database's time of the snapshot
 * @param tables in the order in which they were read
 * @param sequences of these tables
 * @param artifacts null for a backup without them
 * @param ledger sums at the snapshot, by type
 * @param secretKeys ids of the keys under which secrets are encrypted; the keys themselves are in no backup
 * @param sums SHA-256 of the file {@code SHA256SUMS}
 */
public record Manifest(int format, UUID id, String keelson, String postgres, int schema, String schemaChecksum,
        Instant takenAt,
        List<Table> tables, List<Sequence> sequences, @Nullable Artifacts artifacts, List<LedgerSum> ledger,
        List<String> secretKeys,
        String sums) {

    /** The layout that this build writes. */
    static final int FORMAT = 1;

    public Manifest {
        Objects.requireNonNull(id);
        Objects.requireNonNull(keelson);
        Objects.requireNonNull(postgres);
        Objects.requireNonNull(schemaChecksum);
        Objects.requireNonNull(takenAt);
        Objects.requireNonNull(sums);
        tables = List.copyOf(tables);
        sequences = List.copyOf(sequences);
        ledger = List.copyOf(ledger);
        secretKeys = List.copyOf(secretKeys);
    }

    /**
     * A table.
     *
     * @param columns in the order of the values of a row
     * @param bytes before compression
     * @param files of its rows, each complete in itself; empty for a table without rows
     */
    public record Table(String name, List<String> columns, long rows, long bytes, List<String> files) {
        public Table {
            Objects.requireNonNull(name);
            columns = List.copyOf(columns);
            files = List.copyOf(files);
        }
    }

    /** @param called whether {@code value} was handed out */
    public record Sequence(String name, long value, boolean called) {
        public Sequence {
            Objects.requireNonNull(name);
        }
    }

    /**
     * Files of runs, with the status documents.
     *
     * @param missing files that the database names and the store did not have
     */
    public record Artifacts(long files, long bytes, List<String> missing) {
        public Artifacts {
            missing = List.copyOf(missing);
        }
    }

    /**
     * Entries of one type in the ledger.
     *
     * @param amount their exact sum, as text
     */
    public record LedgerSum(String type, long entries, String amount) {
        public LedgerSum {
            Objects.requireNonNull(type);
            Objects.requireNonNull(amount);
        }
    }

    /** Rows of all tables. */
    public long rows() {
        return tables.stream().mapToLong(Table::rows).sum();
    }

    /** Bytes of all tables before compression. */
    public long bytes() {
        return tables.stream().mapToLong(Table::bytes).sum();
    }
}
