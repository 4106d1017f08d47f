package io.keelson.bench.contender;

import com.zaxxer.hikari.HikariDataSource;

/** Connection pools for contenders that need one. */
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
