package io.keelson.bench.contender;

import com.zaxxer.hikari.HikariDataSource;

/** Connection pools for those who want one handed in. */
final class Pools {

    private Pools() {}

    static HikariDataSource of(Place place, int size) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(place.jdbc());
        pool.setUsername(place.user());
        pool.setPassword(place.password());
        pool.setMaximumPoolSize(size);
        return pool;
    }
}
