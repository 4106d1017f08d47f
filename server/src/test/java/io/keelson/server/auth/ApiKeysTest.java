package io.keelson.server.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.db.Database;
import io.keelson.server.db.TestDatabase;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiKeysTest {

    private static Database database;

    private final AtomicLong nanos = new AtomicLong();
    private final ApiKeys keys = new ApiKeys(database, nanos::get);

    @TempDir
    Path folder;

    @BeforeAll
    static void open() {
        database = TestDatabase.create();
        Bootstrap.ensureWorkspace(database);
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void aKeyOpensItsWorkspace() {
        String key = keys.create(Bootstrap.DEFAULT_WORKSPACE, "test");

        assertThat(Objects.requireNonNull(keys.find(key)).workspaceId()).isEqualTo(Bootstrap.DEFAULT_WORKSPACE);
    }

    @Test
    void theDatabaseHoldsNoKeyInClear() {
        String key = keys.create(Bootstrap.DEFAULT_WORKSPACE, "dumped");

        String rows = database.withConnection(c -> {
            try (var s = c.createStatement();
                    var row = s.executeQuery("select string_agg(k::text, ' ') from api_keys k")) {
                row.next();
                return row.getString(1);
            }
        });
        assertThat(rows).contains("dumped").doesNotContain(key).doesNotContain(key.substring(10, 50));
    }

    @Test
    void aMistypedOrForeignKeyOpensNothing() {
        String key = keys.create(Bootstrap.DEFAULT_WORKSPACE, "test");
        char other = key.charAt(20) == 'a' ? 'b' : 'a';

        String mistyped = key.substring(0, 20) + other + key.substring(21);

        assertThat(KeyText.wellFormed(mistyped)).isFalse();
        assertThat(keys.find(mistyped)).isNull();
        assertThat(keys.find(key.substring(0, key.length() - 1))).isNull();
        assertThat(keys.find(KeyText.generate())).isNull();
        assertThat(keys.find("")).isNull();
    }

    @Test
    void aRevokedKeyIsForgottenWithinFiveSeconds() {
        String key = keys.create(Bootstrap.DEFAULT_WORKSPACE, "test");
        Caller caller = Objects.requireNonNull(keys.find(key));

        assertThat(keys.revoke(caller.keyId())).isTrue();
        assertThat(keys.revoke(caller.keyId())).isFalse();

        assertThat(keys.find(key)).as("remembered").isEqualTo(caller);
        nanos.addAndGet(Duration.ofSeconds(5).toNanos());
        assertThat(keys.find(key)).isNull();
    }

    @Test
    void keysHave256RandomBitsAndAChecksum() {
        String key = KeyText.generate();

        assertThat(key).matches("kl_[0-9a-z]{57}").isNotEqualTo(KeyText.generate());
        assertThat(Math.pow(36, 50)).isGreaterThan(Math.pow(2, 256));
        assertThat(KeyText.wellFormed(key)).isTrue();
    }

    @Test
    void theFirstStartMakesAKeyAndTheNextOnesFindIt() throws Exception {
        DataFiles files = new DataFiles(folder);

        Bootstrap.LocalKey first = Bootstrap.ensureKey(database, keys, files);
        Bootstrap.LocalKey second = Bootstrap.ensureKey(database, keys, files);

        assertThat(first.created()).isTrue();
        assertThat(second).isEqualTo(new Bootstrap.LocalKey(first.key(), false));
        Path file = folder.resolve("api-key");
        assertThat(Files.readString(file).strip()).isEqualTo(first.key());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    }

    @Test
    void aKeyThatOpensNothingHereIsReplaced() {
        DataFiles files = new DataFiles(folder);
        files.writeKey(KeyText.generate());

        assertThat(Bootstrap.ensureKey(database, keys, files).created()).isTrue();
    }

    @Test
    void onlyTheServersOwnAddressIsRemoved() {
        DataFiles files = new DataFiles(folder);
        files.writeUrl(URI.create("http://127.0.0.1:1"));
        files.writeUrl(URI.create("http://127.0.0.1:2"));

        files.removeUrl(URI.create("http://127.0.0.1:1"));
        assertThat(folder.resolve("url")).hasContent("http://127.0.0.1:2");

        files.removeUrl(URI.create("http://127.0.0.1:2"));
        files.removeUrl(URI.create("http://127.0.0.1:2"));
        assertThat(folder).isEmptyDirectory();
    }
}
