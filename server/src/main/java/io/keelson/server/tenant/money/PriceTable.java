package io.keelson.server.tenant.money;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.TokenPrices;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The price list and all its versions: what was charged by an old price can be understood later. */
public final class PriceTable {

    private static final String VERSION = "select coalesce(max(version), 0) from prices";

    private static final String AT = """
            select * from (
                select distinct on (kind, name) * from prices where version <= ?
                 order by kind, name, version desc) latest
             where coalesce(usd_per_call, usd_per_million_input) is not null
             order by kind desc, name""";

    /** Two changes at once would take the same version; readers do not wait. */
    private static final String LOCK = "lock table prices in share row exclusive mode";

    private static final String INSERT = """
            insert into prices (version, kind, name, usd_per_call, usd_per_million_input, usd_per_million_cache_read,
                usd_per_million_cache_write, usd_per_million_output, created_at, created_by)
            values (?, ?, ?, ?, ?, ?, ?, ?, {now}, ?)""".replace("{now}", DbClock.SQL);

    private final Database database;
    private final DbClock clock;

    PriceTable(Database database, DbClock clock) {
        this.database = database;
        this.clock = clock;
    }

    /** Receives the changes, in their transaction. */
    public interface Witness {
        void changed(Connection c, int version, List<PriceChange> changes) throws SQLException;
    }

    /** The list that holds now. */
    public PriceListVersion current() {
        return at(Integer.MAX_VALUE);
    }

    /** The names without a current price. */
    public Set<String> withoutPrice(PriceKind kind, Set<String> names) {
        Set<String> without = new TreeSet<>(names);
        current().prices().stream().filter(price -> price.kind() == kind).map(PriceRow::name).forEach(without::remove);
        return without;
    }

    /** The list at that version; the current one, with its own number, for a later version. */
    public PriceListVersion at(int version) {
        return database.withConnection(c -> read(c, version));
    }

    /** As the other one, without a condition. */
    public PriceListVersion change(List<PriceChange> changes, String createdBy, Witness witness) {
        return change(changes, createdBy, witness, current -> {});
    }

    /**
     * Sets and withdraws prices, all or none, as one new version. A change to the current value does nothing.
     *
     * @param changes each with another kind or name
     * @param witness receives the changes in their transaction
     * @param check sees the list in force, locked; what it throws changes nothing
     * @return the list in force
     */
    public PriceListVersion change(List<PriceChange> changes, String createdBy, Witness witness,
            Consumer<PriceListVersion> check) {
        return database.inTransaction(c -> {
            try (PreparedStatement lock = c.prepareStatement(LOCK)) {
                lock.execute();
            }
            PriceListVersion before = read(c, Integer.MAX_VALUE);
            check.accept(before);
            List<PriceChange> news = changes.stream().filter(change -> !holds(before, change)).toList();
            if (news.isEmpty()) {
                return before;
            }
            insert(c, before.version() + 1, news, createdBy);
            witness.changed(c, before.version() + 1, news);
            return read(c, Integer.MAX_VALUE);
        });
    }

    private static boolean holds(PriceListVersion list, PriceChange change) {
        Optional<PriceRow> now = list.prices().stream()
                .filter(price -> price.kind() == change.kind() && price.name().equals(change.name())).findFirst();
        boolean withdrawn = change.usdPerCall() == null && change.usdPerMillion() == null;
        return withdrawn ? now.isEmpty() : now.filter(price -> price.says(change)).isPresent();
    }

    private void insert(Connection c, int version, List<PriceChange> changes, String createdBy) throws SQLException {
        try (PreparedStatement insert = c.prepareStatement(INSERT)) {
            for (PriceChange change : changes) {
                TokenPrices tokens = change.usdPerMillion();
                insert.setInt(1, version);
                insert.setString(2, change.kind().wire());
                insert.setString(3, change.name());
                insert.setBigDecimal(4, change.usdPerCall());
                insert.setBigDecimal(5, tokens == null ? null : normal(tokens.input()));
                insert.setBigDecimal(6, tokens == null ? null : normal(tokens.cacheRead()));
                insert.setBigDecimal(7, tokens == null ? null : normal(tokens.cacheWrite()));
                insert.setBigDecimal(8, tokens == null ? null : normal(tokens.output()));
                clock.bind(insert, 9);
                insert.setString(10, createdBy);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private static @Nullable BigDecimal normal(@Nullable BigDecimal usd) {
        return usd == null ? null : CreditAmounts.normal(usd);
    }

    private static PriceListVersion read(Connection c, int version) throws SQLException {
        int known = Math.min(version, newest(c));
        return new PriceListVersion(known, prices(c, known));
    }

    private static int newest(Connection c) throws SQLException {
        try (PreparedStatement read = c.prepareStatement(VERSION); ResultSet row = read.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }

    private static @Nullable BigDecimal perCall(ResultSet row) throws SQLException {
        BigDecimal price = row.getBigDecimal("usd_per_call");
        return price == null ? null : Amounts.exact(price);
    }

    private static List<PriceRow> prices(Connection c, int version) throws SQLException {
        try (PreparedStatement read = c.prepareStatement(AT)) {
            read.setInt(1, version);
            try (ResultSet row = read.executeQuery()) {
                List<PriceRow> prices = new ArrayList<>();
                while (row.next()) {
                    prices.add(new PriceRow(PriceKind.of(row.getString("kind")), row.getString("name"),
                            perCall(row), tokens(row), row.getInt("version"),
                            row.getObject("created_at", OffsetDateTime.class).toInstant(),
                            row.getString("created_by")));
                }
                return prices;
            }
        }
    }

    private static @Nullable TokenPrices tokens(ResultSet row) throws SQLException {
        BigDecimal input = row.getBigDecimal("usd_per_million_input");
        return input == null ? null
                : new TokenPrices(input, row.getBigDecimal("usd_per_million_cache_read"),
                        row.getBigDecimal("usd_per_million_cache_write"), row.getBigDecimal("usd_per_million_output"));
    }
}
