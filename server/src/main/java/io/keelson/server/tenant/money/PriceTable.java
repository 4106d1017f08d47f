package io.keelson.server.tenant.money;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.TokenPrices;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The price list and all its versions: charges by an old price stay explainable. */
public final class PriceTable {

    private static final Sql VERSION = Sql.of("select coalesce(max(version), 0) as newest from prices");

    private static final Sql AT = Sql.of("""
            select * from (
                select distinct on (kind, name) * from prices where version <= :version
                 order by kind, name, version desc) latest
             where coalesce(usd_per_call, usd_per_million_input) is not null
             order by kind desc, name""");

    /** Two changes at once would take the same version; readers do not wait. */
    private static final Sql LOCK = Sql.of("lock table prices in share row exclusive mode");

    private static final Sql INSERT =
            Sql.of("""
            insert into prices (version, kind, name, usd_per_call, usd_per_million_input, usd_per_million_cache_read,
                usd_per_million_cache_write, usd_per_million_output, created_at, created_by)
            values (:version, :kind, :name, :per_call, :input, :cache_read, :cache_write, :output, {now}, :created_by)""");

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
     * @param check sees the list in force, locked; an exception leaves the prices unchanged
     * @return the list in force
     */
    public PriceListVersion change(List<PriceChange> changes, String createdBy, Witness witness,
            Consumer<PriceListVersion> check) {
        return database.inTransaction(c -> {
            LOCK.on(c).update();
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
        for (PriceChange change : changes) {
            TokenPrices tokens = change.usdPerMillion();
            INSERT.on(c).set("version", version).set("kind", change.kind().wire()).set("name", change.name())
                    .set("per_call", change.usdPerCall())
                    .set("input", tokens == null ? null : normal(tokens.input()))
                    .set("cache_read", tokens == null ? null : normal(tokens.cacheRead()))
                    .set("cache_write", tokens == null ? null : normal(tokens.cacheWrite()))
                    .set("output", tokens == null ? null : normal(tokens.output())).at(clock)
                    .set("created_by", createdBy).update();
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
        return VERSION.on(c).one(row -> row.getInt("newest"));
    }

    private static @Nullable BigDecimal perCall(ResultSet row) throws SQLException {
        BigDecimal price = row.getBigDecimal("usd_per_call");
        return price == null ? null : Amounts.exact(price);
    }

    private static List<PriceRow> prices(Connection c, int version) throws SQLException {
        return AT.on(c).set("version", version)
                .all(row -> new PriceRow(PriceKind.of(row.getString("kind")), row.getString("name"), perCall(row),
                        tokens(row), row.getInt("version"), Rows.time(row, "created_at"), row.getString("created_by")));
    }

    private static @Nullable TokenPrices tokens(ResultSet row) throws SQLException {
        BigDecimal input = row.getBigDecimal("usd_per_million_input");
        return input == null ? null
                : new TokenPrices(input, row.getBigDecimal("usd_per_million_cache_read"),
                        row.getBigDecimal("usd_per_million_cache_write"), row.getBigDecimal("usd_per_million_output"));
    }
}
