package io.keelson.server.engine.live;

import io.keelson.server.base.db.Database;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/** Rows of texts that are read at another node than their writer: one per step, of its newest epoch. */
final class LiveTextRows {

    /** @param epoch 0 before the first text */
    record Row(int epoch, String text) {
        static final Row NONE = new Row(0, "");
    }

    private static final String WANTED = """
            select step_id, lease_epoch, length(text) as chars from live_texts
             where step_id = any (?) and watched_until > now() and watched_by <> ?""";

    private static final String WRITE = """
            update live_texts set lease_epoch = ?, text = ? where step_id = ? and lease_epoch <= ?""";

    /**
     * Renews a row's expiry only when half of its time is over, but takes over a row without a text: its watcher may be
     * the server that executes the step. Removes rows without a reader.
     */
    private static final String WATCH = """
            with gone as (
                delete from live_texts where watched_until < now() - interval '1 minute' and step_id <> all (?))
            insert into live_texts as t (step_id, watched_until, watched_by)
            select w.step_id, now() + interval '6 seconds', ? from unnest(?::uuid[]) w (step_id)
             order by w.step_id
            on conflict (step_id) do update set watched_until = excluded.watched_until, watched_by = excluded.watched_by
             where t.watched_until < now() + interval '3 seconds'
                or t.watched_by <> excluded.watched_by and t.text = ''""";

    private static final String READ = """
            select t.step_id, t.lease_epoch, t.text
              from unnest(?::uuid[], ?::int[], ?::int[]) w (step_id, lease_epoch, chars)
              join live_texts t on t.step_id = w.step_id
             where t.lease_epoch > w.lease_epoch or t.lease_epoch = w.lease_epoch and length(t.text) > w.chars""";

    private final Database database;
    private final String node;

    /** @param node the name of this server */
    LiveTextRows(Database database, String node) {
        this.database = database;
        this.node = node;
    }

    /** Writes the texts that have a reader at another node and have grown. */
    void write(Map<UUID, LiveText> texts) {
        if (!texts.isEmpty()) {
            database.runInTransaction(c -> write(c, texts));
        }
    }

    private void write(Connection c, Map<UUID, LiveText> texts) throws SQLException {
        Map<UUID, String> grown = new HashMap<>();
        try (PreparedStatement wanted = c.prepareStatement(WANTED)) {
            wanted.setArray(1, ids(c, texts.keySet()));
            wanted.setString(2, node);
            try (ResultSet row = wanted.executeQuery()) {
                while (row.next()) {
                    UUID step = row.getObject("step_id", UUID.class);
                    LiveText text = Objects.requireNonNull(texts.get(step));
                    String all = text.after(0).replace('\0', ' ');
                    if (row.getInt("lease_epoch") < text.epoch()
                            || row.getInt("chars") < all.codePointCount(0, all.length())) {
                        grown.put(step, all);
                    }
                }
            }
        }
        if (grown.isEmpty()) {
            return;
        }
        try (PreparedStatement write = c.prepareStatement(WRITE)) {
            for (Map.Entry<UUID, String> each : grown.entrySet()) {
                int epoch = Objects.requireNonNull(texts.get(each.getKey())).epoch();
                write.setInt(1, epoch);
                write.setString(2, each.getValue());
                write.setObject(3, each.getKey());
                write.setInt(4, epoch);
                write.addBatch();
            }
            write.executeBatch();
        }
    }

    /**
     * Requests texts from the nodes that write them.
     *
     * @param known the last row read for each step
     * @return the rows that have changed
     */
    Map<UUID, Row> read(Map<UUID, Row> known) {
        return database.inTransaction(c -> {
            try (PreparedStatement watch = c.prepareStatement(WATCH)) {
                watch.setArray(1, ids(c, known.keySet()));
                watch.setString(2, node);
                watch.setArray(3, ids(c, known.keySet()));
                watch.executeUpdate();
            }
            return news(c, known);
        });
    }

    private static Map<UUID, Row> news(Connection c, Map<UUID, Row> known) throws SQLException {
        Map<UUID, Row> news = new HashMap<>();
        try (PreparedStatement read = c.prepareStatement(READ)) {
            UUID[] steps = known.keySet().toArray(UUID[]::new);
            Integer[] epochs = new Integer[steps.length];
            Integer[] chars = new Integer[steps.length];
            for (int i = 0; i < steps.length; i++) {
                Row row = Objects.requireNonNull(known.get(steps[i]));
                epochs[i] = row.epoch();
                chars[i] = row.text().codePointCount(0, row.text().length());
            }
            read.setArray(1, c.createArrayOf("uuid", steps));
            read.setArray(2, c.createArrayOf("int4", epochs));
            read.setArray(3, c.createArrayOf("int4", chars));
            try (ResultSet row = read.executeQuery()) {
                while (row.next()) {
                    news.put(row.getObject("step_id", UUID.class),
                            new Row(row.getInt("lease_epoch"), row.getString("text")));
                }
            }
        }
        return news;
    }

    private static Array ids(Connection c, Collection<UUID> steps) throws SQLException {
        return c.createArrayOf("uuid", steps.toArray());
    }
}
